// What an app is: where it comes from, its version, what its code offers.
import { Anchor } from '@mantine/core'
import { Copyable, Time } from '../../ui/Values'
import type { App } from '../queries'
import classes from './SettingsTab.module.css'

const WHERE = {
  source: 'written here',
  inline: 'built in',
  local: 'a folder of the server',
  custom: 'installed',
  repository: 'from the catalogue',
}

export function Facts({ app }: { app: App }) {
  const { plugin_info: plugin } = app
  const {
    methods = [],
    scheduled_tasks = [],
    jobs = [],
  } = (plugin.capabilities ?? {}) as Record<string, string[]>
  const offers = [...methods, ...scheduled_tasks, ...jobs.map((job) => `job ${job}`)]
  const isWeb = plugin.url !== null && /^https?:\/\//.test(plugin.url)
  return (
    <section className={classes.section} aria-label="About this app">
      <dl className={classes.facts}>
        <dt>Origin</dt>
        <dd>
          {isWeb ? (
            <Anchor href={plugin.url!} target="_blank" rel="noopener noreferrer">
              {plugin.url}
            </Anchor>
          ) : (
            WHERE[plugin.plugin_type]
          )}
          {plugin.is_global && plugin.plugin_type !== 'inline' && `, of ${plugin.organization_name}`}
        </dd>
        {plugin.tag !== null && (
          <>
            <dt>Version</dt>
            <dd>
              <span className="mono">{plugin.tag}</span>
              {plugin.latest_tag !== null &&
                plugin.latest_tag !== plugin.tag &&
                ` (${plugin.latest_tag} is newer)`}
            </dd>
          </>
        )}
        <dt>Offers</dt>
        <dd className="mono">{offers.length === 0 ? 'no functions' : offers.join(', ')}</dd>
        <dt>Config</dt>
        <dd>
          <Copyable value={String(app.id)} />
        </dd>
        {app.site_url !== null && (
          <>
            <dt>Address for web pages</dt>
            <dd>
              <Copyable value={app.site_url} />
            </dd>
          </>
        )}
        <dt>Changed</dt>
        <dd>
          <Time value={app.updated_at} />
        </dd>
      </dl>
    </section>
  )
}
