// Properties of an event, a person or a group: what people named first, then what libraries add, with a search once there
// are many. Values are text; only addresses on the web are links.
import { ActionIcon, Anchor, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Icon } from './Icon'
import classes from './PropertyTable.module.css'
import { isWebAddress, sortedNames, valueText } from './property-text'
import { Tip } from './Tip'
import { CopyIcon } from './Values'

type Props = {
  label: string
  properties: Readonly<Record<string, unknown>>
  /** Offered beside each value that a filter can name. */
  onFilter?: (name: string, value: string) => void
}

const MANY = 12

export function PropertyTable({ label, properties, onFilter }: Props) {
  const [search, setSearch] = useState('')
  const names = sortedNames(properties)
  const wanted = search.toLowerCase()
  const shown = names.filter((name) =>
    `${name} ${valueText(properties[name])}`.toLowerCase().includes(wanted),
  )
  if (names.length === 0) return <p className="quiet">No properties.</p>
  return (
    <>
      {names.length > MANY && (
        <TextInput
          aria-label="Search names and values"
          placeholder={`Search ${names.length} properties`}
          leftSection={<Icon name="search" size={14} />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          className={classes.search}
        />
      )}
      <table className={classes.table} aria-label={label}>
        <tbody>
          {shown.map((name) => (
            <Property key={name} name={name} value={properties[name]} onFilter={onFilter} />
          ))}
        </tbody>
      </table>
      {shown.length === 0 && <p className="quiet">No name or value holds “{search}”.</p>}
    </>
  )
}

type PropertyProps = { name: string; value: unknown; onFilter: Props['onFilter'] }

function Property({ name, value, onFilter }: PropertyProps) {
  const text = valueText(value)
  const isNested = typeof value === 'object' && value !== null
  return (
    <tr className={classes.row}>
      <th scope="row" className={`mono ${classes.name}`}>
        {name}
      </th>
      <td className={classes.value} data-nested={isNested || undefined}>
        {isWebAddress(value) ? (
          <Anchor inherit href={value} target="_blank" rel="noopener noreferrer">
            {text}
          </Anchor>
        ) : (
          <span className={value === null || value === '' ? 'quiet' : isNested ? 'mono' : undefined}>
            {value === '' ? 'empty' : text}
          </span>
        )}
      </td>
      <td className={classes.tools}>
        {onFilter && !isNested && value !== null && value !== '' && (
          <Tip label="Filter by this value">
            <ActionIcon size="sm" aria-label={`Filter by ${name}`} onClick={() => onFilter(name, text)}>
              <Icon name="filter" size={14} />
            </ActionIcon>
          </Tip>
        )}
        <CopyIcon value={text} label={`Copy ${name}`} />
      </td>
    </tr>
  )
}
