"""A small S3-compatible storage in memory, for tests. It checks every signature by the rules of AWS Signature Version 4,
written down here independently of the client's.

s3_server.py ACCESS_KEY SECRET_KEY [--fail N] [--page N] [--pace FILE] [--encryption NAME [--kms-key ID]] [--forgets-encryption] [--keep FOLDER]:
prints its port on the first line, serves until standard input
ends. --fail: the first N requests are answered 503. --page: keys in one page of a listing.
--encryption: every object must be begun with this x-amz-server-side-encryption (and this key), as a bucket's policy may demand;
without the option none may be. No other request may have such a header, as with Amazon. --forgets-encryption: the header is taken, and
nothing comes of it, as with storages that do not know it. --keep: objects are files there as well, for a test to look at.
--pace: an upload takes as long as the number in FILE takes to grow by 1.2 to 2.2, another for each object, as if the
place were slow by the job's own measure, however busy the machine is; small ones take none, and a FILE that holds "end" holds
up none.
"""
import argparse
import hashlib
import hmac
import os
import pathlib
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

ENCRYPTION = "x-amz-server-side-encryption"
SMALL = 1000  # bytes, of which no slow place makes anything


def quote(text):
    return urllib.parse.quote(text, safe="-_.~")


def signature(handler, secret, body):
    """The signature that the request should bear, from its parts as they arrived."""
    credential, signed, _ = parts_of(handler.headers["Authorization"])
    _, date, region, service, _ = credential.split("/")
    path, _, query = handler.path.partition("?")
    pairs = sorted(tuple(item.partition("=")[::2]) for item in query.split("&") if item)
    canonical_query = "&".join(f"{quote(urllib.parse.unquote(k))}={quote(urllib.parse.unquote(v))}" for k, v in pairs)
    canonical_path = quote(urllib.parse.unquote(path)).replace("%2F", "/")
    headers = "".join(f"{name}:{' '.join(handler.headers[name].split())}\n" for name in signed.split(";"))
    payload = hashlib.sha256(body).hexdigest()
    request = "\n".join([handler.command, canonical_path, canonical_query, headers, signed, payload])
    scope = f"{date}/{region}/{service}/aws4_request"
    to_sign = "\n".join(["AWS4-HMAC-SHA256", handler.headers["x-amz-date"], scope,
                         hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


def parts_of(authorization):
    algorithm, _, rest = authorization.partition(" ")
    assert algorithm == "AWS4-HMAC-SHA256"
    fields = dict(item.strip().split("=", 1) for item in rest.split(","))
    return fields["Credential"], fields["SignedHeaders"], fields["Signature"]


class Storage:
    def __init__(self, options):
        self.options = options
        self.objects = {}
        self.uploads = {}
        self.upload_keys = {}
        self.failures = options.fail
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    storage = None

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", etag=None):
        self.send_response(status)
        if ENCRYPTION in self.headers and status == 200 and not self.storage.options.forgets_encryption:
            self.send_header(ENCRYPTION, self.headers[ENCRYPTION])
        self.send_header("Content-Length", str(len(body)))
        if etag:
            self.send_header("ETag", etag)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def error(self, status, code, message=""):
        self.answer(status, f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode())

    def refusal(self, body):
        """Why the request may not pass; None if it may."""
        try:
            credential, signed, given = parts_of(self.headers["Authorization"])
        except (AssertionError, AttributeError, KeyError, ValueError):
            return "AccessDenied"
        if credential.split("/")[0] != self.storage.options.access_key:
            return "InvalidAccessKeyId"
        names = signed.split(";")
        if "host" not in names or any(n.lower() not in names for n in self.headers if n.lower().startswith("x-amz-")):
            return "UnsignedHeaders"
        if self.headers.get("x-amz-content-sha256") != hashlib.sha256(body).hexdigest():
            return "XAmzContentSHA256Mismatch"
        if not hmac.compare_digest(given, signature(self, self.storage.options.secret_key, body)):
            return "SignatureDoesNotMatch"
        return None

    def refused_encryption(self, key, query):
        """Why the request may not say of encryption what it says; None if it may."""
        options = self.storage.options
        said = {name.lower(): value for name, value in self.headers.items() if name.lower().startswith(ENCRYPTION)}
        begins = key and ((self.command == "PUT" and "partNumber" not in query) or (self.command == "POST" and "uploads" in query))
        wanted = {ENCRYPTION: options.encryption} if begins and options.encryption else {}
        if wanted and options.kms_key:
            wanted[ENCRYPTION + "-aws-kms-key-id"] = options.kms_key
        return None if said == wanted else f"{self.command} {key}: encryption is {said}, not {wanted}"

    def pace(self):
        try:
            text = pathlib.Path(self.storage.options.pace).read_text(encoding="ascii").strip()
        except FileNotFoundError:
            text = ""
        return float("inf") if text == "end" else float(text or 0)

    def take_time(self, body):
        begun = self.pace()
        share = hashlib.sha256(body).digest()[0] / 255
        while self.pace() < begun + 1.2 + share:
            time.sleep(0.02)

    def serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.storage.options.pace and self.command == "PUT" and len(body) > SMALL:
            self.take_time(body)
        with self.storage.lock:
            if self.storage.failures > 0:
                self.storage.failures -= 1
                return self.error(503, "SlowDown")
            refusal = self.refusal(body)
            if refusal:
                return self.error(403, refusal)
            path, _, query = self.path.partition("?")
            query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
            _, bucket, *key = urllib.parse.unquote(path).split("/", 2)
            if bucket != "models":
                return self.error(404, "NoSuchBucket", bucket)
            refusal = self.refused_encryption("/".join(key), query)
            if refusal:
                return self.error(400, "InvalidEncryption", refusal)
            return self.carry_out("/".join(key), query, body)

    do_GET = do_PUT = do_POST = do_DELETE = serve

    def carry_out(self, key, query, body):
        objects, uploads = self.storage.objects, self.storage.uploads
        if not key:
            return self.list_uploads(query) if "uploads" in query else self.list_objects(query)
        if self.command == "GET":
            return self.answer(200, objects[key]) if key in objects else self.error(404, "NoSuchKey")
        if self.command == "DELETE":
            (uploads.pop(query["uploadId"], None) if "uploadId" in query else objects.pop(key, None))
            return self.answer(204)
        if self.command == "POST" and "uploads" in query:
            upload = f"upload&{len(uploads)}"
            uploads[upload] = {}
            self.storage.upload_keys[upload] = key
            return self.answer(200, f"<R><UploadId>{escape(upload)}</UploadId></R>".encode())
        if "uploadId" in query and query["uploadId"] not in uploads:
            return self.error(404, "NoSuchUpload")
        if self.command == "POST":
            parts = uploads[query["uploadId"]]
            numbers = [int(piece.partition("<")[0]) for piece in body.decode().split("<PartNumber>")[1:]]
            if numbers != sorted(parts) or any(len(parts[n]) < 5 << 20 for n in numbers[:-1]):
                return self.error(400, "InvalidPart")
            self.keep(key, b"".join(parts[n] for n in numbers))
            del uploads[query["uploadId"]]
            return self.answer(200, b"<R></R>")
        if "uploadId" in query:
            uploads[query["uploadId"]][int(query["partNumber"])] = body
        else:
            self.keep(key, body)
        return self.answer(200, etag='"' + hashlib.md5(body).hexdigest() + '"')

    def keep(self, key, content):
        self.storage.objects[key] = content
        if self.storage.options.keep:
            (pathlib.Path(self.storage.options.keep) / quote(key)).write_bytes(content)

    def list_uploads(self, query):
        """One at a time: whoever asks must ask for the next page as well."""
        keys = self.storage.upload_keys
        marker = (query.get("key-marker", ""), query.get("upload-id-marker", ""))
        found = sorted((keys[upload], upload) for upload in self.storage.uploads
                       if keys[upload].startswith(query.get("prefix", "")))
        page = [entry for entry in found if entry > marker][:1]
        more = bool(page) and page[-1] != found[-1]
        xml = f"<ListMultipartUploadsResult><IsTruncated>{str(more).lower()}</IsTruncated>"
        for key, upload in page:
            xml += f"<NextKeyMarker>{escape(key)}</NextKeyMarker><NextUploadIdMarker>{escape(upload)}</NextUploadIdMarker>"
            xml += f"<Upload><Key>{escape(key)}</Key><UploadId>{escape(upload)}</UploadId></Upload>"
        return self.answer(200, (xml + "</ListMultipartUploadsResult>").encode())

    def list_objects(self, query):
        keys = sorted(k for k in self.storage.objects if k.startswith(query.get("prefix", "")))
        start = int(query.get("continuation-token", "0").rstrip("=+/"))
        page = keys[start:start + self.storage.options.page]
        end = start + len(page)
        more = end < len(keys)
        xml = "<ListBucketResult>" + f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        xml += "".join(f"<Contents><Key>{escape(k)}</Key></Contents>" for k in page)
        xml += f"<NextContinuationToken>{end}+/=</NextContinuationToken>" if more else ""
        return self.answer(200, (xml + "</ListBucketResult>").encode())


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that hangs up is no news."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("access_key")
    parser.add_argument("secret_key")
    parser.add_argument("--fail", type=int, default=0)
    parser.add_argument("--page", type=int, default=3)
    parser.add_argument("--pace")
    parser.add_argument("--encryption")
    parser.add_argument("--kms-key")
    parser.add_argument("--forgets-encryption", action="store_true")
    parser.add_argument("--keep")
    Handler.storage = Storage(parser.parse_args())
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
