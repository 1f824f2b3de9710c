'use strict';

const { defineModule, TargetError } = require('./modberth-sdk.cjs');

defineModule({
  echo: {
    each(target, parameters) {
      if (parameters.message === undefined) {
        throw new TargetError('unsupported_action', 'Echo needs the parameter message.');
      }
      return { message: parameters.message, index: target.index };
    },
  },
}).run();
