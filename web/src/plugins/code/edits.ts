// What was typed into the code of apps and is not saved yet, kept in the browser until it is. The editor writes it; the page
// around the editor has to know of it too.
import { useSyncExternalStore } from 'react'
import { queries } from '../../queries'
import { filesQuery, saveFiles, type Files, type Plugin } from '../queries'

/** `base` is what was stored when the edit began, null for a file that was not there. */
export type Edits = Readonly<Record<string, { text: string; base: string | null }>>

/** Somebody else, or another tab, has saved the same files since the edit began: nothing was saved. */
export class ChangedElsewhere extends Error {
  constructor(files: readonly string[]) {
    super(`Not saved: ${files.join(' and ')} changed elsewhere since you began. Choose which code to keep.`)
  }
}

const NONE: Edits = {}
const kept = new Map<number, Edits>()
const listeners = new Set<() => void>()

const keyOf = (pluginId: number) => `draft:edits of plugin ${pluginId}`

export const useEdits = (pluginId: number): Edits =>
  useSyncExternalStore(onEdits, () => currentEdits(pluginId))

export const hasEdits = (edits: Edits): boolean => Object.keys(edits).length > 0

export function keepEdits(pluginId: number, edits: Edits): void {
  kept.set(pluginId, edits)
  if (hasEdits(edits)) sessionStorage.setItem(keyOf(pluginId), JSON.stringify(edits))
  else sessionStorage.removeItem(keyOf(pluginId))
  for (const listener of listeners) listener()
}

/** Files that are stored by now as neither what the edit began from nor what it made of it. */
export function changedElsewhere(edits: Edits, stored: Files): readonly string[] {
  return Object.entries(edits)
    .filter(([file, { text, base }]) => (stored[file] ?? null) !== base && stored[file] !== text)
    .map(([file]) => file)
}

/** As edits of what is stored by now, so that saving replaces it. */
export function rebased(edits: Edits, stored: Files): Edits {
  return Object.fromEntries(
    Object.entries(edits).map(([file, { text }]) => [file, { text, base: stored[file] ?? null }]),
  )
}

/** The plugin afterwards. What is typed meanwhile stays unsaved. */
export async function saveEdits(organizationId: string, pluginId: number): Promise<Plugin> {
  // The API takes any text for a file, so what is stored is read just before.
  const stored = await queries.fetchQuery({ ...filesQuery(organizationId, pluginId), staleTime: 0 })
  const edits = currentEdits(pluginId)
  const changed = changedElsewhere(edits, stored)
  if (changed.length > 0) throw new ChangedElsewhere(changed)
  const sent = textsOf(edits)
  const plugin = await saveFiles(organizationId, pluginId, sent)
  const left = Object.entries(currentEdits(pluginId)).filter(([file, { text }]) => sent[file] !== text)
  keepEdits(pluginId, rebased(Object.fromEntries(left), { ...stored, ...sent }))
  return plugin
}

export const textsOf = (edits: Edits): Files =>
  Object.fromEntries(Object.entries(edits).map(([file, { text }]) => [file, text]))

function currentEdits(pluginId: number): Edits {
  if (!kept.has(pluginId)) kept.set(pluginId, readEdits(pluginId))
  return kept.get(pluginId)!
}

function readEdits(pluginId: number): Edits {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(pluginId)) ?? '{}') as Edits
  } catch {
    return NONE
  }
}

function onEdits(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
