'use strict';
// Every name of VS Code's API, as its declarations have it, and behind each a value that can be called, constructed,
// extended and read from without end. Costs next to nothing, so that what is measured is the extension's own work.
const { readFileSync } = require('node:fs');
const { EventEmitter } = require('node:events');

class Emitter {
  #emitter = new EventEmitter();

  /** @param {(value: unknown) => void} listener */
  event = (listener) => {
    this.#emitter.on('event', listener);
    return { dispose: () => void this.#emitter.off('event', listener) };
  };

  /** @param {unknown} value */
  fire(value) {
    this.#emitter.emit('event', value);
  }

  dispose() {
    this.#emitter.removeAllListeners();
  }
}

/** @type {ProxyHandler<() => void>} */
const handler = {
  /** @returns {unknown} */
  get(target, property) {
    if (property === 'prototype') return Reflect.get(target, property); // a proxy must report it as it is
    if (property === Symbol.toPrimitive) return () => '';
    if (property === Symbol.iterator) return [][Symbol.iterator];
    return property === 'then' ? undefined : anything; // with a `then`, an `await` would never end
  },
  set: () => true, // items take their texts and go on as they are
  apply: () => anything,
  construct: () => ({}),
};
/** @type {unknown} */
const anything = new Proxy(function anything() {}, handler);

const declarations = readFileSync(require.resolve('@types/vscode/index.d.ts'), 'utf8');
const names = [...declarations.matchAll(/^\s+export (?:class|namespace|enum|const|function) (\w+)/gm)].map(
  ([, name]) => name,
);
Object.assign(exports, Object.fromEntries(names.map((name) => [name, anything])), { EventEmitter: Emitter });
