// SPDX-License-Identifier: Apache-2.0
// HTTPS on 127.0.0.1 and a free port, for the servers of this directory.

import fs from "node:fs";
import https from "node:https";

// Resolves to the server once it listens, with its URL in the property "url".
export function listen(options) {
  const server = https.createServer({ minVersion: "TLSv1.2", ...options });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.url = `https://127.0.0.1:${server.address().port}`;
      resolve(server);
    });
  });
}

// A reader that polls for the file never sees a part of it.
export function writeUrl(file, url) {
  fs.writeFileSync(`${file}.unfinished`, url + "\n");
  fs.renameSync(`${file}.unfinished`, file);
}
