// What can be done to an export as a whole: pause it, go on, run it now, fill gaps, change it, delete it.
import { ActionIcon, Button, Menu } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { Confirm } from '../ui/Confirm'
import { Icon } from '../ui/Icon'
import { done, refused } from '../ui/notify'
import { useStillHere } from '../ui/still-here'
import { Tip } from '../ui/Tip'
import { linkToExport, useExportPath } from './addresses'
import { exportsKey, itemOf, pathOf, type Export } from './queries'
import { UnpauseDialog } from './UnpauseDialog'

type Dialog = 'pause' | 'unpause' | 'delete'

export function ExportActions({ data }: { data: Export }) {
  const path = useExportPath()
  const [open, setOpen] = useState<Dialog | null>(null)
  const close = () => setOpen(null)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const refresh = () => queries.invalidateQueries({ queryKey: exportsKey(path.projectId) })

  const pause = async () => {
    await answer(
      api.POST('/api/projects/{project_id}/batch_exports/{id}/pause/', { params: { path: itemOf(path) } }),
    )
    await refresh()
    done(`${data.name} is paused.`)
  }
  const remove = async () => {
    await answer(
      api.DELETE('/api/projects/{project_id}/batch_exports/{id}/', { params: { path: itemOf(path) } }),
    )
    await navigate({ to: '/project/$projectId/exports', params: { projectId: path.projectId } })
    queries.removeQueries({ queryKey: exportsKey(path.projectId) })
    done(`${data.name} is deleted.`)
  }

  return (
    <>
      {data.paused ? (
        <Button
          variant="default"
          leftSection={<Icon name="play" size={14} />}
          onClick={() => setOpen('unpause')}
        >
          Unpause
        </Button>
      ) : (
        <Button
          variant="default"
          leftSection={<Icon name="pause" size={14} />}
          onClick={() => setOpen('pause')}
        >
          Pause
        </Button>
      )}
      {!data.paused && <RunNow />}
      <Button
        variant="default"
        renderRoot={(props) => <Link {...linkToExport(path, 'backfills', { ask: 'backfill' })} {...props} />}
      >
        Backfill
      </Button>
      <Menu position="bottom-end">
        <Tip label="More">
          <Menu.Target>
            <ActionIcon aria-label="More" variant="default">
              <Icon name="more" />
            </ActionIcon>
          </Menu.Target>
        </Tip>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<Icon name="settings" size={14} />}
            renderRoot={(props) => <Link {...linkToExport(path, 'settings')} {...props} />}
          >
            Change settings
          </Menu.Item>
          <Menu.Item
            leftSection={<Icon name="trash" size={14} />}
            c="var(--ls-failed)"
            onClick={() => setOpen('delete')}
          >
            Delete export
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Confirm
        isOpen={open === 'pause'}
        onClose={close}
        title={`Pause ${data.name}`}
        button="Pause export"
        isHarmless
        onConfirm={pause}
      >
        No more runs start by the schedule; those at work go on to their end. What arrives during the pause
        can be delivered when the export goes on.
      </Confirm>
      <Confirm
        isOpen={open === 'delete'}
        onClose={close}
        title={`Delete ${data.name}`}
        button="Delete export"
        typed={data.name}
        onConfirm={remove}
      >
        Its schedule ends, runs and backfills at work are cancelled, and its runs, logs and proof can no
        longer be seen. What it has delivered stays at the destination.
      </Confirm>
      <UnpauseDialog data={data} isOpen={open === 'unpause'} onClose={close} onDone={refresh} />
    </>
  )
}

/** Leads to the run, which tells the rest by itself. */
function RunNow() {
  const path = useExportPath()
  const [isAsking, setAsking] = useState(false)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const stillHere = useStillHere()
  const run = async () => {
    setAsking(true)
    const isHere = stillHere()
    try {
      const made = await answer(
        api.POST('/api/projects/{project_id}/batch_exports/{batch_export_id}/runs/', {
          params: { path: pathOf(path) },
        }),
      )
      await queries.invalidateQueries({ queryKey: exportsKey(path.projectId) })
      if (isHere()) await navigate(linkToExport(path, 'runs', { run: made.id }))
    } catch (error) {
      refused(error)
    } finally {
      setAsking(false)
    }
  }
  return (
    <Button variant="default" loading={isAsking} onClick={() => void run()}>
      Run now
    </Button>
  )
}
