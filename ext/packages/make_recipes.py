"""The formula for Homebrew and the recipe for conda, of the archive of sources: python3 make_recipes.py"""
from archive import source_archive
from release import DIST, PACKAGES, RELEASE, ROOT, VERSION, main, sha256


def make():
    archive = source_archive()
    values = {"VERSION": VERSION, "URL": f"{RELEASE['archives']}/{archive.name}", "SHA256": sha256(archive),
              "HOME": RELEASE["home"], "DESCRIPTION": RELEASE["description"], "LICENSE": RELEASE["license"]}
    for template in (PACKAGES / "homebrew" / "ztensor.rb.in", PACKAGES / "conda" / "recipe.yaml.in"):
        text = template.read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        made = DIST / template.stem
        made.write_text(text)
        print(made.relative_to(ROOT))


if __name__ == "__main__":
    main(make)
