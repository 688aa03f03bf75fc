// Which organization and which project: their menus, with a filter once there are many.
import { Menu, TextInput, UnstyledButton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, api } from '../api/client'
import { meQuery, organizationQuery, projectQuery, useMe } from '../api/me'
import { Icon, type IconName } from '../ui/Icon'
import { refused } from '../ui/notify'
import classes from './Rail.module.css'

type Props = { projectId: string | undefined; organizationId: string | undefined; isFolded: boolean }
const MANY = 8

export function Switchers({ projectId, organizationId, isFolded }: Props) {
  const me = useMe()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const project = useQuery({ ...projectQuery(projectId ?? ''), enabled: projectId !== undefined }).data
  const current = project?.organization ?? organizationId
  const organization = useQuery({ ...organizationQuery(current ?? ''), enabled: current !== undefined }).data

  const change = async (body: { set_current_team: number } | { set_current_organization: string }) => {
    try {
      const account = await answer(
        api.PATCH('/api/users/{uuid}/', { params: { path: { uuid: '@me' } }, body }),
      )
      await queries.invalidateQueries({ queryKey: meQuery.queryKey })
      const { team } = account as { team: { id: number } | null }
      if (team) await navigate({ to: '/project/$projectId', params: { projectId: String(team.id) } })
      else await navigate({ to: '/' })
    } catch (error) {
      refused(error)
    }
  }

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

type SwitcherProps = {
  label: string
  icon: IconName
  name: string
  choices: readonly { id: string; name: string }[]
  current: string | undefined
  onChoose: (id: string) => void
  isFolded: boolean
  isMain?: boolean
}

function Switcher({ label, icon, name, choices, current, onChoose, isFolded, isMain }: SwitcherProps) {
  const [filter, setFilter] = useState('')
  const shown = choices.filter((choice) => choice.name.toLowerCase().includes(filter.toLowerCase()))
  return (
    <Menu position="bottom-start" width={240} onClose={() => setFilter('')}>
      <Menu.Target>
        <UnstyledButton className={classes.switcher} data-main={isMain} aria-label={`${label}: ${name}`}>
          {isFolded ? <Icon name={icon} /> : <span className="cut">{name}</span>}
          {!isFolded && <Icon name="down" size={12} />}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {choices.length > MANY && (
          <TextInput
            aria-label="Filter by name"
            placeholder="Filter by name"
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
            m={4}
            data-autofocus
          />
        )}
        <div className={classes.choices}>
          {shown.map(({ id, name: choice }) => (
            <Menu.Item
              key={id}
              onClick={() => id !== current && onChoose(id)}
              rightSection={id === current ? <Icon name="check" size={14} /> : null}
              aria-current={id === current ? 'true' : undefined}
            >
              {choice}
            </Menu.Item>
          ))}
        </div>
      </Menu.Dropdown>
    </Menu>
  )
}
