/** @import { DataResult, ErrorResult, Json, Target } from './types.js' */

/**
 * The target that handlers see.
 * @implements {Target}
 */
export class BatchTarget {
  /**
   * @param {string} id
   * @param {number} index
   */
  constructor(id, index) {
    this.id = id;
    this.index = index;
  }

  /**
   * @param {Json} value
   * @returns {DataResult}
   */
  data(value) {
    return { target: this.id, data: value };
  }

  /**
   * @param {string} code
   * @param {string} message
   * @returns {ErrorResult}
   */
  error(code, message) {
    return { target: this.id, error: { code, message } };
  }
}
