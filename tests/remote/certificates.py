"""A certificate authority of one run of the tests, by openssl, and certificates of servers."""
import ssl
import subprocess

NAMES = "DNS:localhost,IP:127.0.0.1,IP:127.0.0.2,DNS:huggingface.co,DNS:*.huggingface.co,DNS:*.hf.co,DNS:*.amazonaws.com," \
        "DNS:*.s3.us-east-1.amazonaws.com,DNS:*.s3.eu-west-1.amazonaws.com,DNS:models.test,DNS:other.test"


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


class Authority:
    def __init__(self, directory):
        self.directory = directory
        self.bundle = str(directory / "ca.pem")
        self.key = str(directory / "ca.key")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", self.key, "-out", self.bundle,
                "-days", "2", "-subj", "/CN=Authority of the tests", "-addext", "basicConstraints=critical,CA:TRUE",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def context(self, name="server", names=NAMES, days="2", signed=True):
        """A server's TLS with a certificate for these names, by this authority or, not signed, by itself; with days -1 it has
        expired."""
        key, request, certificate, extensions = (str(self.directory / f"{name}.{end}") for end in ("key", "csr", "pem", "ext"))
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={name}")
        with open(extensions, "w", encoding="ascii") as file:
            file.write(f"subjectAltName={names}\nbasicConstraints=CA:FALSE\n")
        by = ["-CA", self.bundle, "-CAkey", self.key, "-CAcreateserial"] if signed else ["-signkey", key]
        openssl("x509", "-req", "-in", request, *by, "-days", days, "-out", certificate, "-extfile", extensions)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context
