import { globSync } from 'node:fs'
import { basename } from 'node:path'

/** What affiliates do and see. */
const AFFILIATE = [
  'affiliate-access',
  'affiliate-keys',
  'affiliate-links',
  'affiliate-reading',
  'affiliate-rows',
  'affiliate-view',
  'questions',
  'portal-links',
  'portal-questions',
  'portal-postbacks',
  'postbacks',
  'portal-pages',
  'portal-looks',
]

/**
 * Which test files `npm test -- NAME` runs for each folder of `src`, and for some other names: those in
 * `test/` and `test-node/` whose names begin with one of these texts, and those in the folder of `test/`
 * that has the name of the group.
 */
export const TEST_GROUPS: Record<string, readonly string[]> = {
  admin: [
    'admin',
    'affiliate-figures',
    ...AFFILIATE,
    'feeds',
    'erasure',
    'fuzz-doors',
    'sweep.test',
    'cost.test',
    'jobs',
    'databases',
    'account-moves',
    'restore',
    'runbook',
    'team-alarms',
  ],
  affiliate: AFFILIATE,
  auth: [
    'bearer',
    'brand-token',
    'oauth',
    'rate',
    'golden',
    'fuzz-credentials',
    'fuzz-doors',
    'secrecy',
    'admin-roles',
    'console-sessions',
    'propagation',
  ],
  brand: ['brand', 'fuzz-brand', 'idempotency', 'sweep.test', 'zones', 'book-zone'],
  commands: [
    'admin',
    'push',
    'reconcile',
    'sample',
    'capacity',
    'usage',
    'test-command',
    'dev',
    'bench',
    'chaos',
    'help',
    'tail',
    'wrangler-dev',
  ],
  commission: ['commission', 'plans', 'statement-page'],
  console: ['console', 'browser', 'admin-roles'],
  db: [
    'cost',
    'outcomes',
    'model',
    'faults',
    'gone',
    'disconnect',
    'messages',
    'erasure',
    'held',
    'stored-form',
    'storage',
    'row-reads',
    'local-crons',
    'query-limit',
    'move',
    'histories',
    'list-limits',
    'completeness',
    'affiliations',
    'directory-sql',
    'sql',
    'ulid',
  ],
  fraud: [],
  docs: [
    'documents',
    'described',
    'examples',
    'site',
    'guide',
    'browser',
    'samples',
    'generate',
    'client',
    'conformance',
    'agreement',
    'project',
  ],
  http: [
    'body',
    'heavy',
    'prefer',
    'routes',
    'fuzz-requests',
    'disconnect',
    'background',
    'query',
    'read-memory',
    'result-memory',
  ],
  ingest: [
    'outcomes',
    'rules',
    'held',
    'idempotency',
    'model',
    'body',
    'fuzz-partner',
    'fuzz-brand',
    'deliver',
    'extras-size',
    'lost-answers',
    'packed-errors',
    'rewritten-bytes',
    'reading',
    'heavy',
    'feeds',
    'sweep.test',
    'since-yesterday',
    'team-reading',
    'list-limits',
    'row-reads',
  ],
  archive: ['archive', 'archive-lists', 'archive-records'],
  parquet: ['parquet'],
  exports: ['exports', 'warehouse'],
  project: ['architecture', 'deployed-bundle', 'project', 'type-escapes'],
  portal: [
    'portal',
    'portal-links',
    'portal-questions',
    'portal-pages',
    'portal-looks',
    'portal-view',
  ],
  reports: ['reports', 'totals.test'],
  sweep: ['sweep', 'faults', 'gone', 'disconnect', 'messages'],
  webhooks: ['webhook', 'postbacks', 'feeds'],
  tracking: ['links', 'fuzz-doors'],
  trading: ['outcomes', 'rules', 'held', 'sweep.test', 'fuzz-partner', 'agreement', 'affiliations'],
  validation: [
    'rules',
    'country',
    'warnings',
    'amount-signs',
    'suggest',
    'body',
    'agreement',
    'fuzz-partner',
    'fuzz-brand',
  ],
}

/** Every test file, by the runner that runs it. */
export const TEST_FILES = {
  vitest: globSync('test/**/*.test.ts').sort(),
  node: globSync('test-node/*.test.ts').sort(),
}

/** Returns whether a test file belongs to the group of this name, or has the name in its own. */
export function isNamed(file: string, name: string): boolean {
  const own = basename(file)
  const path = name.replace(/^\.\//, '')
  if (
    [file, own, own.replace(/\.ts$/, '')].includes(path) ||
    own.replace(/\.test\.ts$/, '').includes(path)
  )
    return true
  const group = TEST_GROUPS[path]
  if (!group) return false
  return file.startsWith(`test/${path}/`) || group.some((start) => own.startsWith(start))
}
