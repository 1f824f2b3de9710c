// Types that only the SDK itself sees.

import type { Request } from './types.js';

/** What the strict scan keeps of a document besides its verdict. */
export interface Scan {
  /** The parsed document. */
  value: { [name: string]: unknown };
  /** The literal of every number that is a member of the root; none when all stand as JavaScript writes them. */
  rootNumbers?: Map<string, string>;
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

/** Takes a trace for standard error. */
export type Note = (text: string) => void;

/** Turns a checked request into result rows, one for each target. The values in them are not checked yet. */
export type Answer = (request: Checked, note: Note) => Row[];

/** Reads some bytes to the place `offset` and returns how many; 0 is the end of the input. */
export type Read = (into: Uint8Array, offset: number) => number;
