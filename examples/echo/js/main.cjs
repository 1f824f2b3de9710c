'use strict';

const { defineModule, TargetError } = require('./modberth-sdk.cjs');

defineModule({
  echo: {
    each(target, parameters) {
      const { message } = parameters;
      if (typeof message !== 'string') {
        throw new TargetError('unsupported_action', 'Echo needs a message.');
      }
      return { message, index: target.index };
    },
  },
}).run();
