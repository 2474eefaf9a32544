"""S3 as moto, its simulation for tests of Amazon's own libraries, has it: serves the files below a directory as the bucket `models`.

    serve_s3.py DIRECTORY   uploads them with boto3, prints the server's origin, and serves until its input ends
"""
import logging
import sys
from pathlib import Path

import boto3
from moto.server import ThreadedMotoServer

logging.getLogger("werkzeug").setLevel(logging.ERROR)


def main(directory):
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    origin = "http://{}:{}".format(*server.get_host_and_port())
    client = boto3.client("s3", endpoint_url=origin, aws_access_key_id="x", aws_secret_access_key="y", region_name="us-east-1")
    client.create_bucket(Bucket="models")
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            client.put_object(Bucket="models", Key=str(path.relative_to(directory)), Body=path.read_bytes())
    print(origin, flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
