// Every tool that agents are offered, and the call of the API behind it. Those that read come first.
import { READING } from './reading-tools.ts'
import type { Tool } from './tool.ts'
import { WRITING } from './writing-tools.ts'

export const TOOLS: ReadonlyMap<string, Tool> = new Map(
  [...READING, ...WRITING].map((each) => [each.name, each]),
)
