// The settings of an export, in the same forms that made it. Only what was changed is sent.
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useExportPath } from '../addresses'
import { kindOf } from '../KindIcon'
import { destinationsQuery, type Export } from '../queries'
import { Empty } from '../../ui/States'
import { valuesOf } from '../form/values'
import { SettingsForm } from './SettingsForm'

export function SettingsTab({ data }: { data: Export }) {
  const { projectId } = useExportPath()
  const kinds = useSuspenseQuery(destinationsQuery(projectId)).data.results
  const [saves, setSaves] = useState(0)
  const kind = kindOf(data.destination.type, kinds)
  if (!kind)
    return (
      <Empty title="This server does not know this kind of destination.">
        Its settings can be changed through the API.
      </Empty>
    )
  // When what is stored has changed, the form begins anew from it, with what was typed. Secrets are never in what is stored.
  const stored = JSON.stringify([saves, valuesOf(data, kind)])
  return <SettingsForm key={stored} data={data} kind={kind} onSaved={() => setSaves(saves + 1)} />
}
