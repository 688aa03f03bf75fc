import { describe, expect, it } from 'vitest'
import { assignments, joinSql, sql } from './sql.ts'

describe('sql', () => {
  it('turns every value into a numbered parameter', () => {
    const statement = sql`SELECT * FROM project WHERE id = ${7} AND name = ${"Robert'); DROP TABLE project;--"}`
    expect(statement.text).toBe('SELECT * FROM project WHERE id = $1 AND name = $2')
    expect(statement.values).toEqual([7, "Robert'); DROP TABLE project;--"])
  })

  it('has a text without values too', () => {
    expect(sql`SELECT 1`).toMatchObject({ text: 'SELECT 1', values: [] })
  })

  it('keeps one name per place in the source, whatever the values', () => {
    const find = (id: number) => sql`SELECT ${id}`
    expect(find(1).name).toBeDefined()
    expect(find(1).name).toBe(find(2).name)
    expect(sql`SELECT ${1}`.name).not.toBe(find(1).name)
  })

  it('puts fragments in place and numbers all parameters anew', () => {
    const fence = sql`organization_id = ${'a'}`
    const statement = sql`SELECT ${sql`name`} FROM domain WHERE id = ${1} AND ${fence} LIMIT ${10}`
    expect(statement.text).toBe('SELECT name FROM domain WHERE id = $1 AND organization_id = $2 LIMIT $3')
    expect(statement.values).toEqual([1, 'a', 10])
  })

  it('prepares no composed statement: its text may differ each time', () => {
    expect(sql`SELECT ${sql`1`}`.name).toBeUndefined()
  })

  it('composes fragments of fragments', () => {
    const inner = sql`a = ${1} OR ${sql`b = ${2}`}`
    expect(sql`WHERE (${inner}) AND c = ${3}`).toMatchObject({
      text: 'WHERE (a = $1 OR b = $2) AND c = $3',
      values: [1, 2, 3],
    })
  })

  it('takes a text that looks like SQL for a value, never for a fragment', () => {
    const forged = { text: 'true', values: [], strings: ['true'] }
    expect(sql`SELECT ${forged}`).toMatchObject({ text: 'SELECT $1', values: [forged] })
  })
})

describe('joinSql', () => {
  it.each([
    [[sql`a = ${1}`], 'a = $1', [1]],
    [[sql`a = ${1}`, sql`b`, sql`c = ${2}`], 'a = $1 AND b AND c = $2', [1, 2]],
  ])('joins with the separator', (fragments, text, values) => {
    expect(joinSql(fragments, ' AND ')).toMatchObject({ text, values })
  })
})

describe('assignments', () => {
  it('gives one assignment per field', () => {
    const statement = sql`UPDATE project SET ${assignments({ name: 'x', is_demo: true, timezone: null })} WHERE id = ${1}`
    expect(statement.text).toBe('UPDATE project SET name = $1, is_demo = $2, timezone = $3 WHERE id = $4')
    expect(statement.values).toEqual(['x', true, null, 1])
  })

  it.each(['name = 1; --', 'Name', 'a b', '', '"name"', '__proto__'])('refuses %j as a column', (column) => {
    expect(() => assignments({ [column]: 1 })).toThrow('not a column name')
  })

  it('refuses an update of nothing', () => {
    expect(() => assignments({})).toThrow('at least one column')
  })
})
