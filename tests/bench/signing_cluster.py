# SPDX-License-Identifier: Apache-2.0
"""A cluster that signs each certificate request at once, over TLS on 127.0.0.1.

    signing_cluster.py TOKEN_FILE CERTIFICATE KEY URL_FILE    writes its URL once it listens
"""
import os
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "faults"))
import servers  # noqa: E402
import stand_ins  # noqa: E402
from path import text_of  # noqa: E402


def main(token_file, certificate, key, url_file):
    cluster = stand_ins.Cluster(text_of(token_file), certificate, key)
    server = servers.serve_json(cluster.answer, certificate, key)
    with open(f"{url_file}.new", "w", encoding="utf-8") as file:
        file.write(server.url)
    os.rename(f"{url_file}.new", url_file)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
