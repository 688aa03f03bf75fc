// Ctrl-K: pages, projects, exports, apps and actions by name. Typing filters, arrows choose, Enter goes.
import { TextInput, VisuallyHidden } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, type LinkProps } from '@tanstack/react-router'
import { useId, useState, type KeyboardEvent } from 'react'
import { useMe } from '../api/me'
import { signOut } from '../api/sign-out'
import { Dialog } from '../ui/Dialog'
import { Icon, type IconName } from '../ui/Icon'
import classes from './Palette.module.css'
import { useCurrentChange } from './current'
import { actions, otherPlaces, parts, projectPlaces, startPlace } from './places'
import { foundProjects, foundThings } from './things'

type Choice = {
  key: string
  label: string
  group: string
  icon: IconName
  link?: LinkProps
  act?: () => unknown
}
const SHOWN = 40

export function Palette({ onClose }: { onClose: () => void }) {
  const me = useMe()
  const { projectId = me.team ? String(me.team.id) : undefined, organizationId = me.organization?.id } =
    useParams({ strict: false })
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const navigate = useNavigate()
  const list = useId()
  const things = useQuery({ ...foundThings(projectId ?? ''), enabled: projectId !== undefined }).data ?? []
  const projects = useQuery(foundProjects).data ?? []
  const goTo = useCurrentChange()

  const all: Choice[] = [
    ...[
      ...(projectId === undefined ? [] : [...projectPlaces(projectId, true), startPlace(projectId)]),
      ...otherPlaces(organizationId, me.is_staff),
    ].map((place) => ({
      ...place,
      key: `page ${place.label}`,
      group: 'Page',
    })),
    ...actions(projectId, organizationId).map((action) => ({
      ...action,
      key: `action ${action.label}`,
      group: 'Action',
    })),
    ...things,
    ...projects.map(({ id, name, group }) => ({
      key: `project ${id}`,
      label: name,
      group,
      icon: 'folder' as const,
      act: () => goTo({ set_current_team: id }),
    })),
    ...parts(organizationId).map((part) => ({ ...part, key: `part ${part.group} ${part.label}` })),
    {
      key: 'docs',
      label: 'API and its pages',
      group: 'Page',
      icon: 'help',
      act: () => window.open('/docs', '_blank', 'noopener'),
    },
    { key: 'sign out', label: 'Sign out', group: 'Action', icon: 'out', act: signOut },
  ]
  const words = text.toLowerCase().split(/\s+/)
  const shown = all
    .filter(({ label, group }) => words.every((word) => `${group} ${label}`.toLowerCase().includes(word)))
    .slice(0, SHOWN)
  const chosen = Math.min(at, shown.length - 1)

  const go = (choice: Choice | undefined) => {
    if (!choice) return
    onClose()
    if (choice.link) void navigate(choice.link)
    else void choice.act?.()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setAt((chosen + step + shown.length) % Math.max(1, shown.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      go(shown[chosen])
    }
  }

  return (
    <Dialog
      opened
      onClose={onClose}
      withCloseButton={false}
      centered={false}
      yOffset="12vh"
      size="lg"
      padding={0}
      title={undefined}
      aria-label="Find anything"
    >
      <TextInput
        data-autofocus
        aria-label="Find anything"
        placeholder="Find a page, a project, an export, an app"
        leftSection={<Icon name="search" />}
        variant="unstyled"
        size="md"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
        role="combobox"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={shown[chosen] ? `${list}-${chosen}` : undefined}
        className={classes.input}
      />
      <div role="listbox" id={list} aria-label="Found" className={classes.list}>
        {shown.map((choice, index) => (
          <div
            key={choice.key}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === chosen}
            tabIndex={-1}
            className={classes.choice}
            onClick={() => go(choice)}
            onKeyDown={onKeyDown}
            onPointerMove={() => setAt(index)}
          >
            <Icon name={choice.icon} />
            <span className="cut">{choice.label}</span>
            <span className={classes.group}>{choice.group}</span>
          </div>
        ))}
      </div>
      {shown.length === 0 && <p className={classes.none}>Nothing has that name.</p>}
      <VisuallyHidden role="status">{shown.length} found</VisuallyHidden>
    </Dialog>
  )
}
