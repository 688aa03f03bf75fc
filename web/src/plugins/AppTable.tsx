// The apps of one family: on and off, what needs attention, how busy they are; for transformations their order.
import { ActionIcon, VisuallyHidden } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { queries } from '../queries'
import { GuardedSwitch } from '../ui/GuardedSwitch'
import { Icon } from '../ui/Icon'
import { done, refused } from '../ui/notify'
import { Status } from '../ui/Status'
import { Tip } from '../ui/Tip'
import { Count } from '../ui/Values'
import classes from './AppsPage.module.css'
import { ordersFor } from './families'
import { configsQuery, type Config, type Plugin } from './queries'
import { useAppDenial } from './rights'
import { useSwitch } from './useSwitch'
import { problemOf, rateText, type AppState } from './states'
import { useReorder } from './useReorder'

type Props = {
  label: string
  projectId: string
  apps: readonly Config[]
  pluginOf: ReadonlyMap<number, Plugin>
  isOrdered: boolean
}

export function AppTable({ label, projectId, apps, pluginOf, isOrdered }: Props) {
  const [said, setSaid] = useState('')
  const order = useOrder(projectId)
  const denial = useAppDenial('configure')
  const { body, grip, markOf } = useReorder({
    items: apps,
    onOrder(sequence) {
      order.mutate(sequence)
      setSaid(`New order: ${sequence.map(({ name }) => name).join(', ')}`)
    },
  })
  return (
    <div className={classes.frame}>
      <table className={classes.table} aria-label={label}>
        <thead>
          <tr>
            {isOrdered && (
              <th className={classes.order}>
                <VisuallyHidden>Order</VisuallyHidden>
              </th>
            )}
            <th className={classes.switch}>On</th>
            <th>App</th>
            <th className={`${classes.state} ${classes.extra}`}>Attention</th>
            <th className={`${classes.number} ${classes.extra}`}>Events a minute</th>
            <th className={`${classes.number} ${classes.extra}`}>Errors, 24 h</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {apps.map((app, index) => (
            <tr key={app.id} className={classes.row} data-mark={markOf(index)}>
              {isOrdered && (
                <td className={classes.order}>
                  <Tip label={denial ?? 'Drag, or press the arrow keys, to change the order'}>
                    <ActionIcon
                      className={classes.grip}
                      size="sm"
                      aria-label={`Move ${app.name}, ${index + 1} of ${apps.length}`}
                      {...(denial === null ? grip(index) : { 'aria-disabled': true, 'data-disabled': true })}
                    >
                      <Icon name="grip" />
                    </ActionIcon>
                  </Tip>
                </td>
              )}
              <AppCells projectId={projectId} app={app} plugin={pluginOf.get(app.plugin)} />
            </tr>
          ))}
        </tbody>
      </table>
      <VisuallyHidden role="status">{said}</VisuallyHidden>
    </div>
  )
}

function AppCells({
  projectId,
  app,
  plugin,
}: {
  projectId: string
  app: Config
  plugin: Plugin | undefined
}) {
  const { flip, isBusy } = useSwitch(projectId, app)
  const denial = useAppDenial('configure')
  const problem = problemOf(app, plugin)
  const params = { projectId, configId: String(app.id) }
  return (
    <>
      <td className={classes.switch}>
        <GuardedSwitch
          denial={denial}
          aria-label={`${app.name} is on`}
          checked={app.enabled}
          disabled={isBusy}
          onChange={flip}
        />
      </td>
      <td className={classes.app}>
        <Link
          to="/project/$projectId/apps/$configId/$tab"
          params={{ ...params, tab: 'settings' }}
          className={classes.name}
        >
          {app.name}
        </Link>
        {app.description && <div className={`${classes.description} cut`}>{app.description}</div>}
        {problem !== null && (
          <div className={classes.under}>
            <Problem problem={problem} />
          </div>
        )}
      </td>
      <td className={`${classes.state} ${classes.extra}`}>
        <Problem problem={problem} />
      </td>
      <td className={`${classes.number} ${classes.extra}`}>{rateText(app.events_per_minute)}</td>
      <td className={`${classes.number} ${classes.extra}`}>
        {app.failures_24h === 0 ? (
          <span className="quiet">0</span>
        ) : (
          <Link
            to="/project/$projectId/apps/$configId/$tab"
            params={{ ...params, tab: 'metrics' }}
            search={{ range: '24h' }}
            className={classes.errors}
          >
            <Count value={app.failures_24h} />
          </Link>
        )}
      </td>
    </>
  )
}

function Problem({ problem }: { problem: AppState | null }) {
  if (problem === null) return null
  return (
    <Tip label={problem.detail ?? ''} isOff={problem.detail === undefined}>
      <span>
        <Status kind={problem.kind}>{problem.text}</Status>
      </span>
    </Tip>
  )
}

/** The new order is shown at once, and taken back when the server refuses it. */
function useOrder(projectId: string) {
  const { queryKey } = configsQuery(projectId)
  return useMutation({
    async mutationFn(sequence: readonly Config[]) {
      const path = '/api/projects/{project_id}/plugin_configs/rearrange/' as const
      const params = { path: { project_id: projectId } }
      await answer(api.PATCH(path, { params, body: { orders: ordersFor(sequence) } }))
    },
    async onMutate(sequence) {
      await queries.cancelQueries({ queryKey, exact: true })
      const before = queries.getQueryData(queryKey)
      const orders = ordersFor(sequence)
      queries.setQueryData(queryKey, (apps) =>
        apps
          ?.map((app) => ({ ...app, order: orders[String(app.id)] ?? app.order }))
          .toSorted((one, other) => one.order - other.order),
      )
      return before
    },
    onSuccess: () => done('The order is changed.'),
    onError(error, _sequence, before) {
      queries.setQueryData(queryKey, before)
      refused(error)
    },
    onSettled: () => queries.invalidateQueries({ queryKey, exact: true }),
  })
}
