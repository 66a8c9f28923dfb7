'use strict';
// Stands in for the native module of the same name, which needs a compiler. VS Code writes every output channel and log
// file through it; where it is missing, the Output panel stays empty. Sizes are not limited: test logs are short.
const { closeSync, mkdirSync, openSync, writeSync } = require('node:fs');
const path = require('node:path');

const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'];

/** @param {number} value @param {number} width */
const padded = (value, width) => String(value).padStart(width, '0');

/** @param {Date} date */
const timestamp = (date) =>
  `${date.getFullYear()}-${padded(date.getMonth() + 1, 2)}-${padded(date.getDate(), 2)} ` +
  `${padded(date.getHours(), 2)}:${padded(date.getMinutes(), 2)}:${padded(date.getSeconds(), 2)}.${padded(date.getMilliseconds(), 3)}`;

class Logger {
  #level = 2;
  #isRaw = false;
  /** @type {number | undefined} */
  #file;

  /** @param {string} _type @param {string} _name @param {string} file */
  constructor(_type, _name, file) {
    mkdirSync(path.dirname(file), { recursive: true });
    this.#file = openSync(file, 'a');
  }

  /** @param {number} level @param {string} message */
  #write(level, message) {
    if (this.#file === undefined || level < this.#level) return;
    writeSync(this.#file, this.#isRaw ? message : `${timestamp(new Date())} [${LEVELS[level]}] ${message}\n`);
  }

  /** @param {string} message */
  trace(message) {
    this.#write(0, message);
  }

  /** @param {string} message */
  debug(message) {
    this.#write(1, message);
  }

  /** @param {string} message */
  info(message) {
    this.#write(2, message);
  }

  /** @param {string} message */
  warn(message) {
    this.#write(3, message);
  }

  /** @param {string} message */
  error(message) {
    this.#write(4, message);
  }

  /** @param {string} message */
  critical(message) {
    this.#write(5, message);
  }

  getLevel() {
    return this.#level;
  }

  /** @param {number} level */
  setLevel(level) {
    this.#level = level;
  }

  setPattern() {
    this.#isRaw = false;
  }

  clearFormatters() {
    this.#isRaw = true;
  }

  flush() {}

  drop() {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** @param {string} name @param {string} file */
const createLogger = async (name, file) => new Logger('rotating', name, file);

// One by one: VS Code imports this from an ES module, where Node finds the names of `exports.x =` only.
exports.version = 0;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
exports.Logger = Logger;
exports.createRotatingLogger = createLogger;
exports.createAsyncRotatingLogger = createLogger;
