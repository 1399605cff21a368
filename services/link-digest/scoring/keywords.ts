// Keywords: the words of a title that decisions teach about.

// English function words of four letters and more; shorter words are no keywords anyway.
const functionWords = new Set(
  `about above across after again against almost along already also although always among another anything around away
because been before behind being below beneath beside besides between beyond both could despite does doing done down during each either
else ever every everything except first from further gets getting goes going gone hadn hasn have haven having hence here hers herself
himself however instead into isn itself just least less like made make many maybe mightn might more moreover most much must mustn myself
near needn neither never nevertheless next none nothing often once only onto other others otherwise ought ours ourselves over
perhaps quite rather really same shall shan should shouldn since some something somewhat soon still such than that their theirs them
themselves then there therefore these they thing things this those though through throughout thus together toward towards under
unless until unto upon used using usually very wasn well were weren what whatever when whenever where whereas wherever whether
which whichever while whither whoever whole whom whomever whose will with within without wouldn would your yours yourself yourselves`
    .split(/\s+/)
    .filter((word) => word !== ''),
);

/** Each keyword once. */
export const keywordsOf = (title: string): string[] => [
  ...new Set((title.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((word) => word.length >= 4 && !functionWords.has(word))),
];
