import { customers } from './customer.ts'
import { activities } from './events.ts'

/** iGaming brands: customers, and what they did. */
export const igaming = { vertical: 'igaming', resources: [customers, activities] }
