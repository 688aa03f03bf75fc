// WITH: named queries, each seeing those before it.
import type { Cte } from '../ast.ts'
import { queryError } from '../errors.ts'
import { assertAlias } from './expressions.ts'
import { renamed } from './from.ts'
import type { Compilation, NamedQuery, Scope } from './scope.ts'

export type NamedSql = { named: Extract<NamedQuery, { kind: 'subquery' }>; sql: string }

/** Adds the named queries to the scope. Gives those that are subqueries. */
export function resolveCtes(ctes: readonly Cte[], scope: Scope): NamedSql[] {
  return ctes.flatMap((cte) => {
    assertAlias(cte.name, cte)
    if (cte.recursive) throw queryError('WITH RECURSIVE is not supported', cte)
    if (
      cte.cte_type === 'column' ||
      (cte.expr.node !== 'SelectQuery' && cte.expr.node !== 'SelectSetQuery')
    ) {
      scope.named_queries.set(cte.name, { kind: 'column', expr: cte.expr })
      return []
    }
    const { sql, columns } = scope.compilation.subquery(cte.expr, scope)
    const names = cte.columns ? { column_aliases: cte.columns } : {}
    const named: NamedSql['named'] = {
      kind: 'subquery',
      alias: scope.compilation.fresh('q'),
      columns: renamed(columns, { ...cte, ...names }),
      uses: 0,
    }
    scope.named_queries.set(cte.name, named)
    return [{ named, sql }]
  })
}

/** To be written last, when it is known how often each is used. */
export function withSql(ctes: readonly NamedSql[], { dialect }: Compilation): string {
  if (ctes.length === 0) return ''
  const list = ctes.map(
    ({ named: { alias, uses }, sql }) => `${alias} AS ${uses > 1 ? dialect.made_once : ''}(${sql})`,
  )
  return `WITH ${list.join(', ')} `
}
