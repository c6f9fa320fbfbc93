import { eachFails, eachVanishes } from './sweep/sweep.ts'

// What the integrations team issues and ends: see sweep.test.ts.

eachFails(
  ({ as, writes, id }) => as === 'team' && !!writes && /Client|Token|Erasures|erase/.test(id),
)
eachVanishes('revokeClient', 'regenerateBrandToken', 'eraseCustomer', 'replayErasures')
