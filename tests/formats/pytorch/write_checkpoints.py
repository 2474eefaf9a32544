#!/usr/bin/python3
"""Writes checkpoints/: two small models, saved by torch after each epoch with what their optimizers were at, and mlflow.db with
what MLflow would know of these runs, in those of its tables and columns that such a question needs. The example of sql/EXAMPLES.md asks them
together; tests/interop has MLflow itself log the same.

    /usr/bin/python3 tests/formats/pytorch/write_checkpoints.py
"""
import sqlite3
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent / "checkpoints"
# name: learning rate, width, validation loss after each epoch
RUNS = {"baseline": (0.1, 2, [0.52, 0.41, 0.44]), "wider": (0.05, 4, [0.47, 0.39, 0.35])}
TABLES = """
CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), status VARCHAR(9), lifecycle_stage VARCHAR(20), artifact_uri VARCHAR(200));
CREATE TABLE params (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
CREATE TABLE metrics (key VARCHAR(250), value FLOAT, run_uuid VARCHAR(32), step BIGINT, is_nan BOOLEAN,
  PRIMARY KEY (key, step, run_uuid, value, is_nan));
"""


def train(name, rate, width, epochs):
    torch.manual_seed(15)
    model = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.Tanh(), torch.nn.Linear(width, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    inputs, wanted = torch.randn(16, 3), torch.randn(16, 1)
    (HERE / name).mkdir(parents=True, exist_ok=True)
    for epoch in range(1, epochs + 1):
        loss = torch.nn.functional.mse_loss(model(inputs), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch.save({"epoch": epoch, "loss": round(loss.item(), 4), "model": model.state_dict(), "optimizer": optimizer.state_dict()},
                   HERE / name / f"epoch-{epoch}.pt")
        schedule.step()


def main():
    database = HERE / "mlflow.db"
    database.unlink(missing_ok=True)
    db = sqlite3.connect(database)
    db.executescript("PRAGMA page_size = 512;" + TABLES)
    for number, (name, (rate, width, losses)) in enumerate(RUNS.items()):
        train(name, rate, width, len(losses))
        run = f"{number + 1:032x}"
        db.execute("INSERT INTO runs VALUES (?, ?, 'FINISHED', 'active', ?)", (run, name, f"tests/formats/pytorch/checkpoints/{name}"))
        db.execute("INSERT INTO params VALUES ('lr', ?, ?)", (str(rate), run))
        db.executemany("INSERT INTO metrics VALUES ('val_loss', ?, ?, ?, 0)",
                       [(loss, run, step) for step, loss in enumerate(losses, 1)])
    db.commit()
    db.close()


if __name__ == "__main__":
    main()
