// What was typed into the code of apps and is not saved yet, kept in the browser until it is. The editor writes it; the page
// around the editor has to know of it too.
import { useSyncExternalStore } from 'react'
import { saveFiles, type Plugin } from '../queries'

export type Edits = Readonly<Record<string, string>>

const NONE: Edits = {}
const kept = new Map<number, Edits>()
const listeners = new Set<() => void>()

const keyOf = (pluginId: number) => `draft:code of plugin ${pluginId}`

export const useEdits = (pluginId: number): Edits =>
  useSyncExternalStore(onEdits, () => currentEdits(pluginId))

export const hasEdits = (edits: Edits): boolean => Object.keys(edits).length > 0

export function keepEdits(pluginId: number, edits: Edits): void {
  kept.set(pluginId, edits)
  if (hasEdits(edits)) sessionStorage.setItem(keyOf(pluginId), JSON.stringify(edits))
  else sessionStorage.removeItem(keyOf(pluginId))
  for (const listener of listeners) listener()
}

/** The plugin afterwards. What is typed meanwhile stays unsaved. */
export async function saveEdits(organizationId: string, pluginId: number): Promise<Plugin> {
  const sent = currentEdits(pluginId)
  const plugin = await saveFiles(organizationId, pluginId, sent)
  const left = Object.entries(currentEdits(pluginId)).filter(([file, text]) => sent[file] !== text)
  keepEdits(pluginId, Object.fromEntries(left))
  return plugin
}

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
