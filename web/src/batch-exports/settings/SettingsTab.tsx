// The settings of an export, in the same forms that made it. Only what was changed is sent.
import { useSuspenseQuery } from '@tanstack/react-query'
import { useExportPath } from '../addresses'
import { kindOf } from '../KindIcon'
import { destinationsQuery, type Export } from '../queries'
import { Empty } from '../../ui/States'
import { SettingsForm } from './SettingsForm'

export function SettingsTab({ data }: { data: Export }) {
  const { projectId } = useExportPath()
  const kinds = useSuspenseQuery(destinationsQuery(projectId)).data.results
  const kind = kindOf(data.destination.type, kinds)
  if (!kind)
    return (
      <Empty title="This server does not know this kind of destination.">
        Its settings can be changed through the API.
      </Empty>
    )
  // A change from elsewhere begins the form anew: a draft of older values would undo it.
  return <SettingsForm key={data.last_updated_at} data={data} kind={kind} />
}
