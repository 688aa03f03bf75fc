import { UnstyledButton } from '@mantine/core'
import { Icon } from '../../ui/Icon'
import { iconOf } from '../KindIcon'
import type { Destination } from '../queries'
import classes from './NewExportPage.module.css'

type Props = { kinds: readonly Destination[]; chosen: string; onChoose: (kind: Destination) => void }

const CATEGORIES: readonly { category: Destination['category']; title: string }[] = [
  { category: 'files', title: 'Files' },
  { category: 'warehouse', title: 'Warehouses' },
  { category: 'database', title: 'Databases' },
  { category: 'http', title: 'Addresses' },
  { category: 'test', title: 'To try things out' },
]

export function DestinationStep({ kinds, chosen, onChoose }: Props) {
  return (
    <>
      {CATEGORIES.map(({ category, title }) => {
        const those = kinds.filter((kind) => kind.category === category)
        return those.length === 0 ? null : (
          <section key={category} aria-label={title}>
            <p className={classes.category}>{title}</p>
            <div className={classes.kinds}>
              {those.map((kind) => (
                <UnstyledButton
                  key={kind.type}
                  className={classes.kind}
                  aria-pressed={kind.type === chosen}
                  disabled={!kind.is_available}
                  title={kind.is_available ? undefined : 'Whoever runs this server has switched it off.'}
                  onClick={() => onChoose(kind)}
                >
                  <Icon name={iconOf(kind)} />
                  <b>{kind.name}</b>
                  <span className={classes.line}>
                    {kind.is_available
                      ? kind.description
                      : `${kind.description} Switched off on this server.`}
                  </span>
                </UnstyledButton>
              ))}
            </div>
          </section>
        )
      })}
    </>
  )
}
