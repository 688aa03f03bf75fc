// Three ways to an app: from the catalogue, from an address, or written here.
import { getRouteApi } from '@tanstack/react-router'
import { Page, TabLinks } from '../ui/Page'
import { Empty } from '../ui/States'
import { Catalogue } from './Catalogue'
import { InstallForm } from './InstallForm'
import { useAppDenial } from './rights'
import { WriteForm } from './WriteForm'

const page = getRouteApi('/frame/project/$projectId/apps/new/$way')

const WAYS = [
  { value: 'catalogue', label: 'Catalogue' },
  { value: 'address', label: 'From an address' },
  { value: 'write', label: 'Write one' },
] as const

export function NewAppPage() {
  const { projectId, way } = page.useParams()
  const use = useAppDenial('use')
  const configure = useAppDenial('configure')
  const install = useAppDenial('install')
  const denial = use ?? (way === 'catalogue' ? null : (install ?? configure))
  return (
    <Page
      title="Add app"
      crumbs={[{ label: 'Apps', link: { to: '/project/$projectId/apps', params: { projectId } } }]}
      tabs={
        <TabLinks
          label="Ways to add an app"
          value={way}
          tabs={WAYS.map((each) => ({
            ...each,
            link: { to: '/project/$projectId/apps/new/$way', params: { projectId, way: each.value } },
          }))}
        />
      }
    >
      {denial !== null ? (
        <Empty title="This cannot be done here">{denial}</Empty>
      ) : way === 'address' ? (
        <InstallForm projectId={projectId} />
      ) : way === 'write' ? (
        <WriteForm projectId={projectId} />
      ) : (
        <Catalogue projectId={projectId} />
      )}
    </Page>
  )
}
