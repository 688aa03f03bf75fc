// The files of an app while they are edited: what is saved, with what was typed since.
import { useSuspenseQuery } from '@tanstack/react-query'
import { filesQuery, saveFiles, type Files } from '../queries'
import { hasEdits, keepEdits, saveEdits, useEdits } from './edits'

export function useFiles(organizationId: string, pluginId: number) {
  const { data: saved } = useSuspenseQuery(filesQuery(organizationId, pluginId))
  const edits = useEdits(pluginId)
  const files: Files = { ...saved, ...edits }
  const keep = (next: typeof edits) => keepEdits(pluginId, next)
  return {
    files,
    isDirty: hasEdits(edits),
    isEdited: (file: string) => file in edits,
    write(file: string, text: string) {
      const { [file]: _old, ...others } = edits
      keep(saved[file] === text ? others : { ...others, [file]: text })
    },
    discard: () => keep({}),
    save: () => saveEdits(organizationId, pluginId),
    async remove(file: string): Promise<void> {
      if (file in saved) await saveFiles(organizationId, pluginId, { [file]: null })
      const { [file]: _gone, ...others } = edits
      keep(others)
    },
  }
}
