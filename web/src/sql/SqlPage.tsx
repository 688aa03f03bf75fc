// Questions in HogQL: the editor above, the answer below, the query in the address.
import { Button, Menu } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { CodeEditor } from '../ui/code/CodeEditor'
import { Icon } from '../ui/Icon'
import { Page } from '../ui/Page'
import { Split } from '../ui/Split'
import { Answer } from './Answer'
import { hogqlCompletion } from './completion'
import { EXAMPLES } from './examples'
import { FaultLine } from './FaultLine'
import { HistoryPanel } from './HistoryPanel'
import { namesOf } from './names'
import classes from './Sql.module.css'
import { useSql, type Sql } from './use-sql'

export function SqlPage() {
  const sql = useSql()
  return (
    <Page title="SQL" isFull actions={<Actions sql={sql} />}>
      <Split
        direction="rows"
        name="sql"
        label="Height of the editor"
        initial={38}
        first={<EditorPane sql={sql} />}
        second={<Answer sql={sql} />}
      />
      <HistoryPanel sql={sql} />
    </Page>
  )
}

function EditorPane({ sql }: { sql: Sql }) {
  const { text, fault } = sql
  const queries = useQueryClient()
  const completions = useMemo(
    () => [hogqlCompletion(namesOf(queries, sql.projectId))],
    [queries, sql.projectId],
  )
  const diagnostics = useMemo(() => (fault === null ? [] : [fault]), [fault])
  return (
    <>
      <div className={classes.editor}>
        <CodeEditor
          language="sql"
          label="Query"
          value={text}
          onChange={sql.setText}
          onRun={() => sql.runText(sql.text)}
          completions={completions}
          diagnostics={diagnostics}
          height="100%"
          isBare
          hasFocus
        />
      </div>
      <FaultLine fault={fault} text={text} onReplace={sql.setText} />
    </>
  )
}

function Actions({ sql }: { sql: Sql }) {
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<Icon name="down" size={14} />}>
            Examples
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {EXAMPLES.map(({ title, text }) => (
            <Menu.Item key={title} onClick={() => sql.runText(text)}>
              {title}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Button variant="default" onClick={() => sql.show({ panel: 'history' }, true)}>
        History
      </Button>
      {sql.isRunning ? (
        <Button variant="default" leftSection={<Icon name="close" size={14} />} onClick={sql.cancel}>
          Cancel query
        </Button>
      ) : (
        <Button
          leftSection={<Icon name="play" size={14} />}
          onClick={() => sql.runText(sql.text)}
          disabled={sql.text.trim() === ''}
          aria-keyshortcuts="Control+Enter Meta+Enter"
        >
          Run query
        </Button>
      )}
    </>
  )
}
