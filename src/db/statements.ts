import type { Shelf } from './shelf.ts'

/**
 * How a JSON array becomes rows. The binary form lets each column be read without parsing its
 * record again (insert and update a fifth quicker, replay two thirds); `npm run deploy` asks the
 * remote database whether it has it.
 */
const EACH = 'jsonb_each'

/** The statements that store one request on a shelf; `?1` is the account, `?2` the delivery. */
export interface Statements {
  /** What `log` and `release` need of each record; the first place is its index. */
  readonly short: readonly string[]
  readonly sql: {
    log: (chunks: number) => string
    writtenBefore: string
    list: string
    move: string | null
    upsert: string
    count: string
    countHeld: (chunks: number) => string
    release: string[]
    foresee: string
    foreseen: string
    read: string
  }
}

const known = new WeakMap<Shelf, Statements>()

/** The statements of a shelf, written once. */
export function statementsOf(shelf: Shelf): Statements {
  const found = known.get(shelf) ?? write(shelf)
  known.set(shelf, found)
  return found
}

const OURS = 'deliveries where account = ?1 and id = ?2'

// Names come from our own tables, never from a request, so they may stand unquoted.
function write(shelf: Shelf): Statements {
  const { table, key, columns, indexed, refers, version, holds } = shelf
  const short = [...new Set([...key, refers.column, ...indexed, ...(version ? [version] : [])])]
  const place = (list: readonly string[]) => (name: string) => `value ->> ${1 + list.indexOf(name)}`
  const inShort = place(short)
  const inFull = place(columns)
  const commas = (list: readonly string[], each = (name: string) => name) => list.map(each).join()
  const row = (list: readonly string[], each: (name: string) => string) => `(${commas(list, each)})`
  const matches = (each: (name: string) => string) =>
    `t.account = ?1 and ${key.map((name) => `t.${name} = ${each(name)}`).join(' and ')}`

  // What a later statement may rewrite: an indexed column would rewrite its index, even if equal.
  const content = columns.filter((name) => !key.includes(name) && !indexed.includes(name))
  const unknownAt = `(select value from json_each((select unknown from ${OURS})))`
  const isUnknown = `value ->> 0 in ${unknownAt}`
  // Refused or dry, nothing is written; of a lenient request, what is rejected is not.
  const may = `(select refused + dry_run from ${OURS}) = 0
    and ((select unknown_keys from ${OURS}) is null or not ${isUnknown})`
  const mayForesee = may.replace('refused + dry_run', 'refused')
  const inMoved = (name: string) => (indexed.includes(name) ? inShort(name) : `t.${name}`)
  const isOlder = (sent: string) => (version ? `(${sent} < t.${version}) is true` : 'false')

  return {
    short,
    sql: {
      log: (chunks) => `
        insert into deliveries (account, id, attempt, received_at, resource, form, dry_run, lenient,
          received, errors_total, rejected, refused, held, stale, created, listed, errors, unknown,
          unknown_keys, stale_at, moved)
        with sent(value) as (${chunks ? union(chunks, 14) : "select value from json_each('[]')"}),
        judged as materialized (
          select value ->> 0 as idx, value,
            not exists (select 1 from ${refers.table} r
              where r.account = ?1 and r.${refers.column} = ${inShort(refers.column)}) as unknown,
            t.account is null as fresh,
            ${holds ? 't.held' : '0'} as was_held,
            ${version ? isOlder(inShort(version)) : '0'} as stale,
            ${
              indexed.length
                ? `t.account is not null and ${row(indexed, (name) => `t.${name}`)} is not ${row(indexed, inShort)}`
                : '0'
            } as moved
          from sent left join ${table} t on ${matches(inShort)}
        ),
        counted as (
          select
            count(*) filter (where ?13 = 'reject' and unknown) as rejected,
            count(*) filter (where ?13 = 'hold' and unknown) as held,
            count(*) filter (where stale) as stale,
            count(*) filter (where fresh and not (unknown and ?13 <> 'warn')) as created,
            count(*) filter (where was_held and moved and not unknown)
              - count(*) filter (where not was_held and moved and unknown and ?13 = 'hold') as shifted,
            json_group_array(idx) filter (where unknown) as unknown,
            json_group_array(idx) filter (where stale) as stale_at,
            json_group_array(idx) filter (
              where moved and not stale and not (unknown and ?13 = 'reject')) as moved
          from judged
        )
        select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
          ?11 + rejected, ?10 + rejected, iif(?8, 0, ?10 + rejected), held, stale, created,
          created + shifted, ?12, nullif(unknown, '[]'),
          iif(rejected, (
            select json_group_array(json(key)) from (
              select json_array(idx, ${commas([...key, refers.column], inShort)}) as key,
                sum(octet_length(value)) over (order by idx) as bytes
              from judged where unknown order by idx limit 100
            ) where bytes < 65536
          ), null),
          nullif(stale_at, '[]'), nullif(moved, '[]')
        from counted where true
        on conflict (account, id) do nothing`,

      writtenBefore: `
        select t.idx as idx, t.revision as revision
        from ${EACH}(?3) cross join ${table} t on ${matches(inShort)}
        where t.delivery = ?2`,

      list: `
        insert into totals (account, resource, total)
        select ?1, ?3, listed from ${OURS} and attempt = ?4 and refused = 0 and listed <> 0
        on conflict (account, resource) do update set total = total + excluded.total`,

      // An insert that always conflicts: an update would look for its values record by record.
      move: indexed.length
        ? `
        insert into ${table} (account, ${commas(columns)}, ${holds ? 'held, ' : ''}delivery, idx, revision)
        select t.account, ${commas(columns, inMoved)}, ${holds ? `${isUnknown}, ` : ''}
          '', t.idx, t.revision
        from ${EACH}(?3) cross join ${table} t on ${matches(inShort)}
          and value ->> 0 in (select value from json_each((select moved from ${OURS})))
        where t.delivery <> ?2 and (select moved from ${OURS} and refused = 0) is not null
        on conflict (account, ${commas(key)}) do update set
          ${commas([...indexed, ...(holds ? ['held'] : []), 'delivery'], (name) => `${name} = excluded.${name}`)}`
        : null,

      upsert: `
        insert into ${table} as t
          (account, ${commas(columns)}, ${holds ? 'held, ' : ''}delivery, idx, revision)
        select ?1, ${commas(columns, inFull)}, ${holds ? `${isUnknown}, ` : ''}?2, value ->> 0, 1
        from ${EACH}(?3) where ${may}
        on conflict (account, ${commas(key)}) do update set
          ${commas(content, (name) => `${name} = excluded.${name}`)},
          delivery = excluded.delivery, idx = excluded.idx, revision = t.revision + 1
        where (${row(content, (name) => `excluded.${name}`)} is not ${row(content, (name) => `t.${name}`)}
          or t.delivery = '')
          and not ${isOlder(`excluded.${version}`)}
        returning idx, revision`,

      count: `update deliveries set written = written + changes()
        where changes() > 0 and account = ?1 and id = ?2`,

      // Updates of held records are no updates for the sender: they stay held.
      countHeld: (chunks) => `update deliveries set held_written = (
          select count(*) from (${union(chunks, 3)}) cross join ${table} t
          on ${matches(inShort)} where t.held = 1 and t.delivery = ?2)
        where unknown is not null and refused = 0 and account = ?1 and id = ?2`,

      release: shelf.releases.flatMap((waiting) => [
        `update ${waiting} set held = 0
         where account = ?1 and held = 1 and (select created from ${OURS} and refused = 0) > 0
           and customer_id in (select ${inShort('customer_id')} from ${EACH}(?3))
           and exists (select 1 from customers c
             where c.account = ?1 and c.customer_id = ${waiting}.customer_id)`,
        `insert into totals (account, resource, total)
         select ?1, '${RESOURCES[waiting]}', changes() where changes() > 0 and ?3 is not null
         on conflict (account, resource) do update set total = total + excluded.total`,
      ]),

      foresee: `update deliveries set written = written + would.n, held_written = held_written + would.h
        from (select count(*) as n, count(*) filter (where ${isUnknown}) as h from (
          ${foreseen('value')})) as would
        where account = ?1 and id = ?2`,

      foreseen: foreseen('value ->> 0 as idx, coalesce(t.revision, 0) + 1 as revision'),

      read: `select * from ${OURS}`,
    },
  }

  /** What `upsert` would write, of which nothing is written. */
  function foreseen(shown: string) {
    const said = columns.filter((name) => !key.includes(name))
    return `select ${shown} from ${EACH}(?3) left join ${table} t on ${matches(inFull)}
      where ${mayForesee} and not ${version ? isOlder(inFull(version)) : 'false'}
        and (t.account is null or ${row(said, (name) => `t.${name}`)} is not ${row(said, inFull)})`
  }
}

/** The noun by which an account knows a table that holds. */
const RESOURCES: Record<string, string> = {
  transactions: 'transactions',
  activity: 'trading-activity',
}

/** All chunks of a request as one, parameters numbered from there on. */
const union = (chunks: number, from: number) =>
  Array.from({ length: chunks }, (_, i) => `select value from ${EACH}(?${from + i})`).join(
    ' union all ',
  )
