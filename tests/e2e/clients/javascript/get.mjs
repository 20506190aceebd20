// SPDX-License-Identifier: Apache-2.0
//
// get.mjs sends requests to a cluster as a controller written in JavaScript does:
// it loads a kubeconfig, and @kubernetes/client-node handles the credentials.
//
//   node get.mjs KUBECONFIG whoami|namespaces [--requests N] [--interval MS | --parallel]
//
// Each request prints one line: "ok USER", "ok NAMESPACE...", or "error REASON".
// The exit status is 0 when every request was answered, 1 when one was not, 2
// when the input is wrong.
import { parseArgs } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { AuthenticationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';

const questions = {
  whoami: async (config) => {
    const review = await config.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
    return review.status.userInfo.username;
  },
  namespaces: async (config) => {
    const list = await config.makeApiClient(CoreV1Api).listNamespace();
    return list.items.map((namespace) => namespace.metadata.name).join(' ');
  },
};

function parseCommandLine() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      requests: { type: 'string', default: '1' },
      interval: { type: 'string', default: '0' },
      parallel: { type: 'boolean', default: false },
    },
  });
  const [kubeconfig, name] = positionals;
  const requests = Number(values.requests);
  const interval = Number(values.interval);
  if (positionals.length !== 2 || !Object.hasOwn(questions, name)) {
    throw new Error('usage: get.mjs KUBECONFIG whoami|namespaces [OPTION...]');
  }
  if (!(requests >= 1) || !(interval >= 0)) {
    throw new Error('--requests and --interval take numbers');
  }
  return { kubeconfig, question: questions[name], requests, interval, parallel: values.parallel };
}

async function request(config, question) {
  try {
    console.log('ok', await question(config));
    return true;
  } catch (error) {
    console.log('error', String(error.message).trim().replace(/\s+/g, ' '));
    return false;
  }
}

// All requests share one KubeConfig, which holds the client's cache of credentials.
async function requestAll(config, { question, requests, interval, parallel }) {
  if (parallel) {
    return Promise.all(Array.from({ length: requests }, () => request(config, question)));
  }
  const answered = [];
  for (let sent = 0; sent < requests; sent++) {
    if (sent > 0) await pause(interval);
    answered.push(await request(config, question));
  }
  return answered;
}

try {
  const options = parseCommandLine();
  const config = new KubeConfig();
  config.loadFromFile(options.kubeconfig);
  const answered = await requestAll(config, options);
  process.exitCode = answered.every(Boolean) ? 0 : 1;
} catch (error) {
  console.error(`get.mjs: error: ${error.message}`);
  process.exitCode = 2;
}
