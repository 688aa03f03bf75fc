// Which minute, hour or day of a timetable was begun last, so that one process begins each.
import type { Db } from '../../../platform/db/database.ts'
import { sql, type Statement } from '../../../platform/db/sql.ts'

/** `period`: the minute, hour or day since 1970. */
export type DueTask = { config_id: number; task: string; period: number }

type Begun = Pick<DueTask, 'config_id' | 'task'>

/** Those that nobody has begun. */
export function beginTasks(db: Db, tasks: readonly DueTask[]): Promise<Begun[]> {
  return db.rows(sql`
    INSERT INTO plugin_timetable AS last (plugin_config_id, project_id, task, period)
    SELECT config.id, config.project_id, due.task, due.period
    FROM ${rowsOf(tasks)} JOIN plugin_config config ON config.id = due.config_id
    ON CONFLICT (plugin_config_id, task) DO UPDATE SET period = excluded.period WHERE last.period < excluded.period
    RETURNING plugin_config_id AS config_id, task`)
}

/** Those whose last period was begun, and whose present one was not. */
export function makeUpForTasks(db: Db, tasks: readonly DueTask[]): Promise<Begun[]> {
  return db.rows(sql`
    UPDATE plugin_timetable AS last SET period = due.period FROM ${rowsOf(tasks)}
    WHERE last.plugin_config_id = due.config_id AND last.task = due.task AND last.period = due.period - 1
    RETURNING last.plugin_config_id AS config_id, last.task`)
}

function rowsOf(tasks: readonly DueTask[]): Statement {
  const column = <Name extends keyof DueTask>(name: Name) => tasks.map((task) => task[name])
  return sql`unnest(${column('config_id')}::int[], ${column('task')}::text[], ${column('period')}::bigint[])
    AS due (config_id, task, period)`
}
