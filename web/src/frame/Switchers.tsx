// Which organization and which project, each with a menu of the others.
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { organizationQuery, projectQuery, useMe } from '../api/me'
import { useCurrentChange } from './current'
import { SwitcherButton, type SwitcherProps } from './SwitcherButton'

type Props = { projectId: string | undefined; organizationId: string | undefined; isFolded: boolean }

const SwitcherMenu = lazy(() =>
  import('./SwitcherMenu').then(({ SwitcherMenu }) => ({ default: SwitcherMenu })),
)

export function Switchers({ projectId, organizationId, isFolded }: Props) {
  const me = useMe()
  const project = useQuery({ ...projectQuery(projectId ?? ''), enabled: projectId !== undefined }).data
  const current = project?.organization ?? organizationId
  const organization = useQuery({ ...organizationQuery(current ?? ''), enabled: current !== undefined }).data

  const change = useCurrentChange()

  return (
    <>
      <Switcher
        label="Organization"
        icon="organization"
        isFolded={isFolded}
        name={organization?.name ?? me.organization?.name ?? 'No organization'}
        choices={me.organizations.map(({ id, name }) => ({ id, name }))}
        current={current}
        onChoose={(id) => void change({ set_current_organization: id })}
      />
      <Switcher
        label="Project"
        icon="folder"
        isFolded={isFolded}
        name={project?.name ?? 'No project'}
        choices={(organization?.teams ?? []).map(({ id, name }) => ({ id: String(id), name }))}
        current={projectId}
        onChoose={(id) => void change({ set_current_team: Number(id) })}
        isMain
      />
    </>
  )
}

/** A button until somebody wants its menu: what draws menus is loaded then. */
function Switcher(props: SwitcherProps) {
  const [isWanted, setWanted] = useState(false)
  const button = <SwitcherButton {...props} aria-haspopup="menu" onClick={() => setWanted(true)} />
  if (!isWanted) return button
  return (
    <Suspense fallback={button}>
      <SwitcherMenu {...props} />
    </Suspense>
  )
}
