// The files of an app while they are edited: what is saved, with what was typed since.
import { useSuspenseQuery } from '@tanstack/react-query'
import { filesQuery, saveFiles, type Files } from '../queries'
import {
  changedElsewhere,
  hasEdits,
  keepEdits,
  rebased,
  saveEdits,
  textsOf,
  useEdits,
  type Edits,
} from './edits'

export function useFiles(organizationId: string, pluginId: number) {
  const { data: saved } = useSuspenseQuery(filesQuery(organizationId, pluginId))
  const edits = useEdits(pluginId)
  const files: Files = { ...saved, ...textsOf(edits) }
  const changed = changedElsewhere(edits, saved)
  const keep = (next: Edits) => keepEdits(pluginId, next)
  const save = () => saveEdits(organizationId, pluginId)
  return {
    saved,
    files,
    isDirty: hasEdits(edits),
    isEdited: (file: string) => file in edits,
    /** Files that somebody else has saved while they were edited here. */
    changed,
    write(file: string, text: string) {
      const { [file]: old, ...others } = edits
      const base = old === undefined ? (saved[file] ?? null) : old.base
      keep(saved[file] === text ? others : { ...others, [file]: { text, base } })
    },
    discard: () => keep({}),
    save,
    overwrite() {
      keep(rebased(edits, saved))
      return save()
    },
    takeTheirs: () =>
      keep(Object.fromEntries(Object.entries(edits).filter(([file]) => !changed.includes(file)))),
    async remove(file: string): Promise<void> {
      if (file in saved) await saveFiles(organizationId, pluginId, { [file]: null })
      const { [file]: _gone, ...others } = edits
      keep(others)
    },
  }
}
