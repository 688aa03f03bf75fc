// The files of an app while they are edited: what is saved, what was typed since, kept in the browser until it is saved.
import { useState } from 'react'
import { useSuspenseQuery } from '@tanstack/react-query'
import { filesQuery, saveFiles, type Files, type Plugin } from '../queries'

type Edits = Readonly<Record<string, string>>

const keyOf = (pluginId: number) => `draft:code of plugin ${pluginId}`

export function useFiles(organizationId: string, pluginId: number) {
  const { data: saved } = useSuspenseQuery(filesQuery(organizationId, pluginId))
  const [edits, setEdits] = useState<Edits>(() => readEdits(pluginId, saved))
  const files: Files = { ...saved, ...edits }
  const isDirty = Object.keys(edits).length > 0

  const keep = (next: Edits) => {
    setEdits(next)
    if (Object.keys(next).length > 0) sessionStorage.setItem(keyOf(pluginId), JSON.stringify(next))
    else sessionStorage.removeItem(keyOf(pluginId))
  }
  return {
    files,
    isDirty,
    isEdited: (file: string) => file in edits,
    write(file: string, text: string) {
      const { [file]: _old, ...others } = edits
      keep(saved[file] === text ? others : { ...others, [file]: text })
    },
    discard: () => keep({}),
    /** The plugin afterwards. What is typed meanwhile stays unsaved. */
    async save(): Promise<Plugin> {
      const plugin = await saveFiles(organizationId, pluginId, edits)
      setEdits((now) => {
        const left = Object.fromEntries(Object.entries(now).filter(([file, text]) => edits[file] !== text))
        if (Object.keys(left).length === 0) sessionStorage.removeItem(keyOf(pluginId))
        return left
      })
      return plugin
    },
    async remove(file: string): Promise<void> {
      if (file in saved) await saveFiles(organizationId, pluginId, { [file]: null })
      const { [file]: _gone, ...others } = edits
      keep(others)
    },
  }
}

function readEdits(pluginId: number, saved: Files): Edits {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keyOf(pluginId)) ?? '{}') as Edits
    return Object.fromEntries(Object.entries(kept).filter(([file, text]) => saved[file] !== text))
  } catch {
    return {}
  }
}
