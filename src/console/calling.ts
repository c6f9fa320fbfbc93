import type { AnyOperation, InputOf } from '../http/operation.ts'
import type { Change, Values, Visit } from './page.ts'

/**
 * Returns a change that calls an operation. Its members come from the path of the page and from the fields of the
 * form that have their names. Empty fields are left out; `others` has what the form sends otherwise.
 */
export const calling = <O extends AnyOperation>(
  of: O,
  done: Change['done'],
  others: (values: Values, visit: Visit) => Partial<InputOf<O>> = () => ({}),
): Change => ({
  done,
  perform(values, visit) {
    const { account, params } = visit
    const members = Object.keys({ ...of.params, ...of.body }).flatMap((name) => {
      const value = params[name] ?? values(name).trim()
      return value === '' ? [] : [[name, value]]
    })
    const own = { ...(account !== '' && { account }), ...Object.fromEntries(members) }
    return visit.api.call(of, { ...own, ...others(values, visit) })
  },
})
