/**
 * The SDK for Modberth modules in JavaScript: process protocol 1.
 *
 * The input of a module is a request that the host has checked. The SDK checks it again, but it is
 * no gateway for untrusted JSON. A handler leaves no detached process behind and writes nothing
 * outside the sandbox (P1-SDK-13).
 *
 * @module
 */
export { codes } from './codes.js';
export { ModberthError, TargetError } from './errors.js';
export { defineModule, serve } from './module.js';
export * from './types.js';
