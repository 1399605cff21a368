// The schemas of neighbours.
import { z } from 'zod';
import { exampleProperty, Property } from '../contract.ts';

const Neighbour = Property.extend({
  metres: z.number().meta({ description: 'How far away it is, in metres', examples: [420.5] }),
}).meta({
  id: 'Neighbour',
  description: 'A listing near another one',
  examples: [{ ...exampleProperty, metres: 420.5 }],
});
export const Neighbours = z
  .object({ items: z.array(Neighbour).meta({ description: 'The neighbours, the nearest first' }) })
  .meta({ id: 'Neighbours', description: 'Listings near another one that are like it' });
