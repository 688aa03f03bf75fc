// Apps that are here already, and those that can be fetched, as one list.
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useProject } from '../api/me'
import { GuardedButton } from '../ui/Guarded'
import { done, refused } from '../ui/notify'
import { SearchInput } from '../ui/SearchInput'
import { Empty, Failed, Loading } from '../ui/States'
import { InlineText } from './InlineText'
import { offersOf, type Offer } from './offers'
import classes from './NewAppPage.module.css'
import { addToProject, catalogueQuery, configsQuery, createPlugin, pluginsQuery } from './queries'
import { useAppDenial } from './rights'

const page = getRouteApi('/frame/project/$projectId/apps/new/$way')

export function Catalogue({ projectId }: { projectId: string }) {
  const { organization } = useProject()
  const { q = '' } = page.useSearch()
  const navigate = page.useNavigate()
  const plugins = useQuery(pluginsQuery(organization))
  const catalogue = useQuery(catalogueQuery(organization))
  const apps = useQuery(configsQuery(projectId))
  const failed = [plugins, catalogue, apps].find((query) => query.isLoadingError)
  if (failed)
    return (
      <Failed
        what="The catalogue could not be loaded"
        error={failed.error}
        onRetry={() => void failed.refetch()}
      />
    )
  if (!plugins.data || !catalogue.data || !apps.data) return <Loading />

  const words = q.toLowerCase().split(/\s+/)
  const offers = offersOf(plugins.data, catalogue.data, apps.data).filter(({ name, description }) =>
    words.every((word) => `${name} ${description}`.toLowerCase().includes(word)),
  )
  return (
    <>
      <SearchInput
        className={classes.find}
        label="Find an app"
        value={q}
        onChange={(typed) =>
          void navigate({ search: typed === undefined ? {} : { q: typed }, replace: true })
        }
      />
      {offers.length === 0 ? (
        <Empty title="No app has that name">
          Apps that are not listed here can be installed from their address.
        </Empty>
      ) : (
        <div className={classes.list} role="list" aria-label="Catalogue">
          {offers.map((offer) => (
            <Entry key={offer.key} projectId={projectId} offer={offer} />
          ))}
        </div>
      )}
    </>
  )
}

function Entry({ projectId, offer }: { projectId: string; offer: Offer }) {
  const { organization } = useProject()
  const install = useAppDenial('install')
  const configure = useAppDenial('configure')
  const navigate = useNavigate()
  const add = useMutation({
    async mutationFn() {
      const id =
        offer.id ?? (await createPlugin(organization, { plugin_type: 'repository', url: offer.url })).id
      return addToProject(projectId, id)
    },
    async onSuccess(app) {
      done(`${app.name} is added, and off until you switch it on.`)
      const params = { projectId, configId: String(app.id), tab: 'settings' }
      await navigate({ to: '/project/$projectId/apps/$configId/$tab', params })
    },
    onError: refused,
  })
  return (
    <div role="listitem" className={classes.entry}>
      <div>
        <div className={classes.name}>{offer.name}</div>
        <div className={classes.description}>
          <InlineText>{offer.description}</InlineText>
        </div>
      </div>
      <div className={`${classes.from} quiet`}>
        {offer.from}
        {offer.uses > 0 && (
          <div>{offer.uses === 1 ? 'In this project' : `${offer.uses} times in this project`}</div>
        )}
      </div>
      <GuardedButton
        variant="default"
        denial={offer.id === null ? (install ?? configure) : configure}
        loading={add.isPending}
        onClick={() => add.mutate()}
        aria-label={`${offer.id === null ? 'Install' : 'Add'} ${offer.name}`}
      >
        {offer.id === null ? 'Install' : 'Add'}
      </GuardedButton>
    </div>
  )
}
