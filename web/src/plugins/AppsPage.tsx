// The apps of a project by what they do.
import { Button, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useProject } from '../api/me'
import { GuardedButton } from '../ui/Guarded'
import { Icon } from '../ui/Icon'
import { Page } from '../ui/Page'
import { SearchInput } from '../ui/SearchInput'
import { Empty, Failed, Loading } from '../ui/States'
import { AppTable } from './AppTable'
import classes from './AppsPage.module.css'
import { byFamily, FAMILIES } from './families'
import { configsQuery, pluginsQuery } from './queries'
import { useAppDenial } from './rights'

const page = getRouteApi('/frame/project/$projectId/apps')
/** From so many on a list is searched rather than read. */
const MANY = 8

export function AppsPage() {
  const denial = useAppDenial('use')
  return (
    <Page title="Apps" actions={<AddButton />}>
      {denial === null ? <AppList /> : <Empty title="Apps are switched off">{denial}</Empty>}
    </Page>
  )
}

function AddButton() {
  const denial = useAppDenial('configure')
  const { projectId } = page.useParams()
  if (denial !== null) return <GuardedButton denial={denial}>Add app</GuardedButton>
  return (
    <Button
      leftSection={<Icon name="plus" />}
      renderRoot={(props) => (
        <Link {...props} to="/project/$projectId/apps/new/$way" params={{ projectId, way: 'catalogue' }} />
      )}
    >
      Add app
    </Button>
  )
}

function AppList() {
  const { projectId } = page.useParams()
  const { q = '' } = page.useSearch()
  const navigate = page.useNavigate()
  const apps = useQuery(configsQuery(projectId))
  const plugins = useQuery(pluginsQuery(useProject().organization))

  if (apps.isPending) return <Loading />
  if (apps.isLoadingError)
    return (
      <Failed what="The apps could not be loaded" error={apps.error} onRetry={() => void apps.refetch()} />
    )
  if (apps.data.length === 0)
    return (
      <Empty title="No apps yet" action={<AddButton />}>
        An app is a small program that changes events before they are stored, carries them elsewhere, or runs
        in your web pages. Install one, or write one here and try it on your own events.
      </Empty>
    )

  const words = q.toLowerCase().split(/\s+/)
  const shown = apps.data.filter(({ name, description }) =>
    words.every((word) => `${name} ${description}`.toLowerCase().includes(word)),
  )
  const groups = byFamily(shown)
  const pluginOf = new Map((plugins.data ?? []).map((plugin) => [plugin.id, plugin]))
  return (
    <>
      {(apps.data.length > MANY || q !== '') && (
        <SearchInput
          className={classes.find}
          label="Find an app"
          value={q}
          onChange={(typed) =>
            void navigate({ search: typed === undefined ? {} : { q: typed }, replace: true })
          }
        />
      )}
      {groups.size === 0 && <Empty title="No app has that name" />}
      {FAMILIES.filter(({ family }) => groups.has(family)).map(({ family, title, what }) => (
        <section key={family} className={classes.family} aria-label={title}>
          <div className={classes.title}>
            <Title order={2}>{title}</Title>
            <span className={classes.what}>{what}</span>
          </div>
          <AppTable
            label={title}
            projectId={projectId}
            apps={groups.get(family)!}
            pluginOf={pluginOf}
            isOrdered={family === 'pipeline_transformations' && q === ''}
          />
        </section>
      ))}
    </>
  )
}
