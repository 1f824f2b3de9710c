import { defineModule, TargetError } from './modberth-sdk.cjs';

interface Echo {
  parameters: { message?: string };
  data: { message: string; index: number };
}

defineModule<{ echo: Echo }>({
  echo: {
    each(target, { message }) {
      if (typeof message !== 'string') {
        throw new TargetError('unsupported_action', 'Echo needs a message.');
      }
      return { message, index: target.index };
    },
  },
}).run();
