// What goes between the main thread and the one that reads destinations back.
import type { PlaceReader } from './destination-reader.ts'

export type CallName = keyof PlaceReader

export type Call = { id: number; name: CallName; args: readonly unknown[] }

export type Answer = { id: number } & (
  | { result: unknown }
  /** What the destination said. */
  | { out_of_reach: string }
  /** A fault of ours. */
  | { fault: string }
)
