// Types that only the SDK itself sees.

import type { Request } from './types.js';

/** What the strict scan keeps of a document besides its verdict. */
export interface Scan {
  /** The parsed document. */
  value: { [name: string]: unknown };
  /** The literal of every number that is a member of the root; none when all stand as JavaScript writes them. */
  rootNumbers: Map<string, string> | undefined;
  /** Every double beyond the exact integers that the document holds. */
  large: Set<number>;
}

/** A request that passed every check, with copies that the author cannot reach. */
export interface Checked {
  /** The message itself, for handlers. */
  message: Request;
  id: string;
  action: string;
  targets: readonly string[];
  /** The doubles beyond the exact integers in it. */
  large: ReadonlySet<number>;
}

/** One result row, its values read once so that nothing can change after the check. */
export interface Row {
  /** Where it stands in the results list. */
  index: number;
  target: string;
  /** Which outcome it has. */
  name: 'data' | 'error';
  value: unknown;
}

/** How a value is written, and how far that has come. */
export interface Writing {
  /** Where the value stands, for messages: `results[0], target "a"`. */
  place: () => string;
  /** The steps from that place to the part being written; the first is the member: `data`. */
  path: (string | number)[];
  /**
   * The doubles beyond the exact integers that came in with the request. They are passed on; from the
   * author such a number is refused, because it has most likely lost digits already.
   */
  large: Pick<ReadonlySet<number>, 'has'>;
  /** The code for a value that no frame can hold. */
  tooLarge: string;
  /** How many UTF-16 units are written; 0 at the beginning. */
  units: number;
}

/** Takes a trace for standard error. */
export type Note = (text: string) => void;

/** Turns a checked request into result rows, one for each target. The values in them are not checked yet. */
export type Answer = (request: Checked, note: Note) => Row[];

/** What is read of the input, and how far that has come. */
export interface Input {
  read: Read;
  bytes: Uint8Array;
  /** Where the bytes end that were read. */
  filled: number;
  /** Where the frames end that were given out. */
  at: number;
  /** The number of the frame in hand, for messages; the first is 1. */
  frame: number;
}

/** Reads some bytes to the place `offset` and returns how many; 0 is the end of the input. */
export type Read = (into: Uint8Array, offset: number) => number;
