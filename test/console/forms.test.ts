import * as v from 'valibot'
import { expect, test } from 'vitest'
import { storageWords } from '../../src/pages/parts/field-words.ts'
import { changedMembers, describe as describeMember } from '../../src/pages/parts/schema.ts'

const SCHEMAS = {
  events: v.optional(v.array(v.picklist(['feed.late', 'question.asked', 'statement.paid']))),
  disabled: v.optional(v.boolean()),
  days: v.nullable(v.number()),
  url: v.pipe(v.string(), v.metadata({ description: 'Where to send.' })),
}

/** Returns what a form sends that shows some values and has others. */
const changed = (was: Record<string, string>, sent: Record<string, string>) =>
  changedMembers(SCHEMAS, (name) =>
    name.startsWith('was:') ? (was[name.slice(4)] ?? '') : (sent[name] ?? ''),
  )

test('a form sends the members that it has changed, each with its type', () => {
  const was = { events: 'feed.late', disabled: 'false', days: '5', url: 'a' }
  const same = { 'events:feed.late': 'on', disabled: 'false', days: '5' }
  expect(changed(was, { ...same, url: 'a' })).toEqual({})
  expect(changed(was, { ...same, url: '5' })).toEqual({ url: '5' })
  const boxes = { 'events:feed.late': 'on', 'events:statement.paid': 'on' }
  expect(changed(was, { ...boxes, disabled: 'true', days: '7.5' })).toEqual({
    ...{ events: ['feed.late', 'statement.paid'], disabled: true, days: 7.5 },
    url: null,
  })
  expect(changed(was, { disabled: '', days: 'many', url: 'a' })).toEqual({
    ...{ events: [], disabled: null, days: 'many' },
  })
})

test('an amount of storage has a unit', () => {
  expect([1_572_864, 4_294_967_296, 1_610_612_736].map(storageWords)).toEqual([
    ...['1.5 MB', '4 GB', '1.5 GB'],
  ])
})

test('a field is described by its schema', () => {
  const { events, disabled, days, url } = SCHEMAS
  expect(describeMember(events)).toEqual({
    type: 'text',
    choices: ['feed.late', 'question.asked', 'statement.paid'],
    ...{ isList: true, isRequired: false },
  })
  expect(describeMember(disabled)).toMatchObject({
    ...{ type: 'boolean', choices: ['true', 'false'], isList: false },
  })
  expect(describeMember(days)).toMatchObject({
    ...{ type: 'number', choices: [], isRequired: true },
  })
  expect(describeMember(url)).toMatchObject({
    type: 'text',
  })
})
