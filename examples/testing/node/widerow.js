'use strict';
// A widerow for the tests of one file: started once, commanded over HTTP between and in tests.

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const readline = require('node:readline');

const COMMAND = process.env.WIDEROW || 'widerow';

class Widerow {
  /** Start `widerow serve --dev` on a free port; resolves when it answers. */
  static async start() {
    const server = spawn(COMMAND, ['serve', '--memory', '--port', '0', '--dev'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(readline.createInterface({ input: server.stdout }), 'line');
    const endpoint = / endpoint=(\S+)/.exec(line);
    if (endpoint === null) throw new Error(`widerow did not start: ${line}`);
    return new Widerow(server, endpoint[1]);
  }

  constructor(server, endpoint) {
    this.server = server;
    this.endpoint = endpoint;
  }

  async stop() {
    this.server.kill('SIGTERM');
    await once(this.server, 'exit');
  }

  /** A command to /_widerow/; what it answers. Throws with the server's words if it refuses. */
  async ask(method, page, body) {
    const response = await fetch(`${this.endpoint}/_widerow/${page}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${answer.error.field}: ${answer.error.message}`);
    return answer;
  }

  /** An empty instance, no faults, and a clock that stands still at the time of day. */
  async reset(instance) {
    await this.ask('POST', 'reset', { instance });
    await this.ask('DELETE', 'faults');
    await this.ask('POST', 'clock', { set: Date.now(), freeze: true });
  }
}

module.exports = { Widerow };
