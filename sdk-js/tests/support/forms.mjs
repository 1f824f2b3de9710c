// The four forms in which the SDK reaches an author. Tests of behaviour run against each.

import * as packageEsm from '../../dist/esm/index.js';
import packageCjs from '../../dist/cjs/index.js';
import vendoredCjs from '../../dist/vendor/modberth-sdk.cjs';
import * as vendoredEsm from '../../dist/vendor/modberth-sdk.mjs';

export const forms = {
  'package, ESM': packageEsm,
  'package, CommonJS': packageCjs,
  'single file, ESM': vendoredEsm,
  'single file, CommonJS': vendoredCjs,
};
