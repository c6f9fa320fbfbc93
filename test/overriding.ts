import type { D1Database } from '@cloudflare/workers-types'

/** Returns an object whose own members take precedence over those of the target. */
export const overriding = <T extends object>(
  target: T,
  own: Partial<Record<keyof T, unknown>>,
): T =>
  new Proxy(target, {
    get(_, name) {
      const value = own[name as keyof T] ?? Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })

/** Returns a database whose sessions, too, have these methods before their own. */
export const overridingSessions = (
  db: D1Database,
  methods: (real: Pick<D1Database, 'prepare' | 'batch'>) => { prepare: unknown; batch: unknown },
): D1Database =>
  overriding(db, {
    ...methods(db),
    withSession: (constraint: string) => {
      const session = db.withSession(constraint)
      return overriding(session, methods(session))
    },
  })
