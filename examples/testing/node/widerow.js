'use strict';
// A widerow for the tests of one file: started once, commanded over HTTP between and in tests.

const { spawn } = require('node:child_process');
const { once } = require('node:events');
const readline = require('node:readline');

const COMMAND = process.env.WIDEROW || 'widerow';

class Widerow {
  /** Run `widerow serve --dev` on a free port; it answers once `started` has resolved. */
  constructor() {
    this.server = spawn(COMMAND, ['serve', '--memory', '--port', '0', '--dev'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.ended = once(this.server, 'exit');
    this.endpoint = '';
  }

  /** Resolves when the server answers. */
  async started() {
    const lines = readline.createInterface({ input: this.server.stdout });
    const [line] = await Promise.race([once(lines, 'line'), this.ended]);
    const endpoint = / endpoint=(\S+)/.exec(line);
    if (endpoint === null) throw new Error(`widerow did not start: ${line}`);
    this.endpoint = endpoint[1];
  }

  async stop() {
    this.server.kill('SIGTERM');
    await this.ended;
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
