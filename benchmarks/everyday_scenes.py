"""The texts behind `everyday.py`: short articles of an invented place, with what is true and what is false of them.

Slots: {w}, {w2} women, {m}, {m2} men (.first, .last), {t}, {t2} towns, {f} a firm, {n}, {n2} numbers. The texts are
dedicated to the public domain (CC0 1.0).
"""

from __future__ import annotations

from typing import NamedTuple


class Scene(NamedTuple):
    """An article; two statements, each true and false; a question that the first answers; one about the second."""

    article: str
    first: tuple[str, str]
    second: tuple[str, str]
    question: tuple[str, str, str]  # the question, a short right answer, a short wrong one
    asked: tuple[str, str, str]  # a question with the answer yes, one with the answer no, how a sentence goes on
    language: tuple[str, str]  # two sentences of another language, true and false


SCENES = (
    Scene(
        "The bakery of {w} in {t} will stop selling bread on Sundays. She told customers that she could not find a "
        "second baker. The shop has {n} regular customers and bakes {n2} loaves a day. From May, it will open an hour "
        "earlier on Saturdays instead.",
        ("The bakery will stop selling bread on Sundays.", "The bakery will stop selling bread on Saturdays."),
        ("The shop bakes {n2} loaves a day.", "The shop bakes {n} loaves a day."),
        ("On which day will the bakery stop selling bread?", "Sunday", "Saturday"),
        ("Does the shop bake {n2} loaves a day?", "Does the shop bake {n} loaves a day?", "it does"),
        ("Die Bäckerei verkauft sonntags bald kein Brot mehr.", "Die Bäckerei verkauft montags bald kein Brot mehr."),
    ),
    Scene(
        "{t} beat {t2} by 31 goals to 27 in the regional handball final. Goalkeeper {w} saved four penalties. The hall "
        "was full an hour before the start. {t2} had taken the title in each of the last three years.",
        ("{t} beat {t2} in the handball final.", "{t} lost to {t2} in the handball final."),
        ("{w} saved four penalties.", "{w} saved two penalties."),
        ("Who took the regional handball title this year?", "{t}", "{t2}"),
        ("Did {w} save four penalties?", "Did {w} save two penalties?", "she did"),
        ("{w} a arrêté quatre penalties.", "{w} a arrêté deux penalties."),
    ),
    Scene(
        "{f} will close its warehouse in {t} at the end of the year. The {n} people who work there were told on "
        "Wednesday. Its director, {m}, said that the rent had doubled since 2018. The firm will keep its shop in {t2}.",
        ("{f} will close its warehouse in {t}.", "{f} will close its warehouse in {t2}."),
        ("The workers were told on Wednesday.", "The workers were told on Friday."),
        ("Where will {f} close its warehouse?", "In {t}", "In {t2}"),
        ("Were the workers told on Wednesday?", "Were the workers told on Friday?", "they were"),
        ("La empresa cerrará su almacén a finales de año.", "La empresa abrirá un almacén a finales de año."),
    ),
    Scene(
        "Researchers in {t} have found that garden bumblebees prefer blue flowers to yellow ones. The team of {w} "
        "watched {n} bees for six weeks. The result surprised {w.last}, who had expected no difference. Next year "
        "she will repeat the test with butterflies.",
        ("Bumblebees prefer blue flowers to yellow ones.", "Bumblebees prefer yellow flowers to blue ones."),
        ("The team watched {n} bees.", "The team watched {n2} bees."),
        ("Which flowers do bumblebees prefer?", "Blue ones", "Yellow ones"),
        ("Did the team watch {n} bees?", "Did the team watch {n2} bees?", "it did"),
        ("I bombi preferiscono i fiori blu a quelli gialli.", "I bombi preferiscono i fiori gialli a quelli blu."),
    ),
    Scene(
        "A clinic in {t} will offer free hearing tests to people over sixty. The nurse {w} will carry them out in a "
        "van. Each test takes ten minutes and needs no appointment. Last year the clinic tested {n} people and sent "
        "nine of them to a specialist.",
        ("A nurse will carry out the hearing tests in a van.", "A nurse will carry out the hearing tests in a school."),
        ("Each hearing test takes ten minutes.", "Each hearing test takes forty minutes."),
        ("Where will the nurse carry out the hearing tests?", "In a van", "In a school"),
        ("Does each hearing test take ten minutes?", "Does each hearing test take forty minutes?", "it does"),
        ("Elke gehoortest duurt tien minuten.", "Elke gehoortest duurt veertig minuten."),
    ),
    Scene(
        "Heavy rain flooded the cellar of the puppet museum in {t} on Monday night. Firefighters pumped out the water "
        "within five hours. Two paintings were damaged, but no visitor was in the building. The director, {m}, expects "
        "to reopen next week.",
        ("Firefighters pumped out the water.", "Soldiers pumped out the water."),
        ("Two paintings were damaged.", "Nine paintings were damaged."),
        ("Who pumped out the water?", "Firefighters", "Soldiers"),
        ("Were two paintings damaged?", "Were nine paintings damaged?", "they were"),
        ("Dwa obrazy zostały uszkodzone.", "Dziewięć obrazów zostało uszkodzonych."),
    ),
    Scene(
        "The toy shop {f} has sold more board games than video games for the first time. Its owner, {w}, said that "
        "families wanted to sit at one table again. The shop sold {n}0 board games in December. A second shop will "
        "open in {t} next year.",
        ("The second shop will open in {t}.", "The second shop will open in {t2}."),
        ("The shop sold {n}0 board games in December.", "The shop sold {n2}0 board games in December."),
        ("Where will the second shop open?", "In {t}", "In {t2}"),
        ("Did the shop sell {n}0 board games in December?", "Did it sell {n2}0 board games in December?", "it did"),
        ("Butiken sålde fler brädspel än tv-spel.", "Butiken sålde färre brädspel än tv-spel."),
    ),
    Scene(
        "The library of {t} has got a new book bus. It stops in {n} villages and carries 3,000 books. {m} drives it, "
        "and his sister {w} lends the books. The old bus was sold to a circus.",
        ("The old bus was sold to a circus.", "The old bus was sold to a farmer."),
        ("The new bus carries 3,000 books.", "The new bus carries 8,000 books."),
        ("Who bought the old bus?", "A circus", "A farmer"),
        ("Does the new bus carry 3,000 books?", "Does the new bus carry 8,000 books?", "it does"),
        ("O autocarro velho foi vendido a um circo.", "O autocarro velho foi vendido a um agricultor."),
    ),
    Scene(
        "Trains between {t} and {t2} were delayed on Thursday because a tree had fallen onto the line. Nobody was "
        "hurt. Some 400 passengers waited for two hours. The railway gave them tea and sandwiches.",
        ("The railway gave the passengers tea and sandwiches.", "The railway gave the passengers beer and crisps."),
        ("The passengers waited for two hours.", "The passengers waited for seven hours."),
        ("What did the railway give the passengers?", "Tea and sandwiches", "Beer and crisps"),
        ("Did the passengers wait for two hours?", "Did the passengers wait for seven hours?", "they did"),
        ("Et træ var faldet ned på sporet.", "En bil var faldet ned på sporet."),
    ),
    Scene(
        "{w} won the soup contest of {t} with a cold beetroot soup. {m} came second with a fish soup. The jury tasted "
        "{n} soups in one afternoon. The winner got a copper pot and a week in Lisbon.",
        ("{w} won the soup contest.", "{m} won the soup contest."),
        ("The winner got a copper pot.", "The winner got a silver tray."),
        ("Who won the soup contest?", "{w}", "{m}"),
        ("Did the winner get a copper pot?", "Did the winner get a silver tray?", "the winner did"),
        ("Voittaja sai kuparikattilan ja viikon Lissabonissa.", "Voittaja sai hopeatarjottimen ja viikon Roomassa."),
    ),
    Scene(
        "Pupils in {t} have built a weather station on the roof of their school. It cost 640 euros, and parents paid "
        "half of that. The pupils measure wind and rain every hour. Their teacher, {m}, once worked at an airport.",
        ("The weather station cost 640 euros.", "The weather station cost 260 euros."),
        ("The teacher once worked at an airport.", "The teacher once worked at a hospital."),
        ("How much did the weather station cost?", "640 euros", "260 euros"),
        ("Did the teacher once work at an airport?", "Did the teacher once work at a hospital?", "he did"),
        ("Ученики построили метеостанцию на крыше школы.", "Ученики построили метеостанцию в подвале школы."),
    ),
    Scene(
        "The council of {t} will plant {n} lime trees along the river. They will replace poplars that a storm felled "
        "in February. Councillor {w} said that limes grow more slowly but live longer. The work will start in autumn.",
        (
            "The planting of the lime trees will start in autumn.",
            "The planting of the lime trees will start in spring.",
        ),
        ("A storm felled the poplars in February.", "A storm felled the poplars in July."),
        ("When will the planting of the lime trees start?", "In autumn", "In spring"),
        ("Did a storm fell the poplars in February?", "Did a storm fell the poplars in July?", "it did"),
        ("Οι εργασίες θα αρχίσουν το φθινόπωρο.", "Οι εργασίες θα αρχίσουν την άνοιξη."),
    ),
    Scene(
        "The bank {f} has repaired an error in its app. For three days, customers had seen the balances of strangers. "
        "The error was found by {m}, a student from {t}, who will get a reward. No money was stolen, the bank said.",
        ("The error was found by a student.", "The error was found by a policeman."),
        ("The error lasted for three days.", "The error lasted for eight days."),
        ("Who found the error in the app?", "A student", "A policeman"),
        ("Did the error last for three days?", "Did the error last for eight days?", "it did"),
        ("Hatayı bir öğrenci buldu.", "Hatayı bir polis buldu."),
    ),
    Scene(
        "{m} walked from {t} to {t2} in eleven days to collect money for a hospice. He slept in barns and ate at "
        "farms. He had hoped for 5,000 euros, but people gave 8,200. His daughter {w.first} cycled beside him.",
        ("The walk took eleven days.", "The walk took six days."),
        ("People gave 8,200 euros for the hospice.", "People gave 3,100 euros for the hospice."),
        ("How long did the walk take?", "Eleven days", "Six days"),
        ("Did people give 8,200 euros?", "Did people give 3,100 euros?", "they did"),
        ("Spal ve stodolách a jedl na statcích.", "Spal v hotelech a jedl v restauracích."),
    ),
)


class Forms(NamedTuple):
    """An article with six facts, and a sentence about each: what is in braces is written in another form there."""

    article: str
    date: str
    time: str
    number: str
    initials: str
    title: str
    accent: str


FORMS = (
    Forms(
        "The {ORG} opened a new laboratory in {t} on {DATE}. {TITLE} showed the first guests around at {TIME} that "
        "day. "
        "The building cost {NUM}, and the region paid for the roof. The architect was {ACC}.",
        "The laboratory in {t} opened on {DATE}.",
        "The first guests were shown around at {TIME} that day.",
        "The building cost {NUM}.",
        "The {ORG} opened a new laboratory.",
        "{TITLE} showed the first guests around.",
        "The architect was {ACC}.",
    ),
    Forms(
        "A choir festival run by the {ORG} began in {t} on {DATE}. The doors of the hall opened at {TIME} for the "
        "first "
        "concert. {TITLE} gave a short speech, and {ACC} conducted. The choirs sang for {NUM} without a break.",
        "The choir festival began on {DATE}.",
        "The doors of the hall opened at {TIME}.",
        "The choirs sang for {NUM} without a break.",
        "The festival was run by the {ORG}.",
        "{TITLE} gave a short speech.",
        "{ACC} conducted.",
    ),
    Forms(
        "The {ORG} tested the water of the lake near {t} on {DATE}. Its boat left the pier at {TIME} in calm weather. "
        "{TITLE} lent the boat, which is {NUM} old. {ACC} took the samples.",
        "The water of the lake was tested on {DATE}.",
        "The boat left the pier at {TIME}.",
        "The boat is {NUM} old.",
        "The {ORG} tested the water of the lake.",
        "{TITLE} lent the boat.",
        "{ACC} took the samples.",
    ),
    Forms(
        "On {DATE} a new footpath was opened in the hills above {t}. The {ORG} paid for it. The path is {NUM} long and "
        "ends at {TITLE}. {ACC} led the first walkers, who set out at {TIME} and were back for supper.",
        "The new footpath was opened on {DATE}.",
        "The first walkers set out at {TIME}.",
        "The path is {NUM} long.",
        "The {ORG} paid for the path.",
        "The path ends at {TITLE}.",
        "{ACC} led the first walkers.",
    ),
    Forms(
        "The {ORG} chose {t} for its yearly meeting, which took place on {DATE}. About {NUM} members came. The meeting "
        "began at {TIME} with a song. {ACC} was elected chair, and the dinner was at {TITLE}.",
        "The yearly meeting took place on {DATE}.",
        "The meeting began at {TIME}.",
        "About {NUM} members came to the meeting.",
        "The {ORG} chose {t} for its yearly meeting.",
        "The dinner was at {TITLE}.",
        "{ACC} was elected chair.",
    ),
    Forms(
        "{TITLE} has sold a painting by {ACC} to a collector in {t}. The sale was agreed on {DATE}, at {TIME}, over "
        "the "
        "telephone. The price was {NUM}. A part of the money will go to the {ORG}.",
        "The sale of the painting was agreed on {DATE}.",
        "The sale was agreed at {TIME}, over the telephone.",
        "The price of the painting was {NUM}.",
        "A part of the money will go to the {ORG}.",
        "{TITLE} has sold a painting.",
        "The painting is by {ACC}.",
    ),
    Forms(
        "The power failed in the whole of {t} on {DATE}. The lights went out at {TIME} and stayed out for {NUM}. "
        "{TITLE} let people warm themselves at a fire. The {ORG} sent blankets, and {ACC} handed out soup.",
        "The power failed in {t} on {DATE}.",
        "The lights went out at {TIME}.",
        "The lights stayed out for {NUM}.",
        "The {ORG} sent blankets.",
        "{TITLE} let people warm themselves at a fire.",
        "{ACC} handed out soup.",
    ),
    Forms(
        "A study by the {ORG} says that {NUM} of the households in {t} have no car. It was published on {DATE}. {ACC} "
        "wrote it together with {TITLE}. The authors will answer questions in the town hall at {TIME} on Tuesday.",
        "The study was published on {DATE}.",
        "The authors will answer questions at {TIME} on Tuesday.",
        "According to the study, {NUM} of the households in {t} have no car.",
        "The study is by the {ORG}.",
        "One author of the study is {TITLE}.",
        "One author of the study is {ACC}.",
    ),
    Forms(
        "The swimming pool of {t} was reopened on {DATE} after long repairs. The first swimmer, {ACC}, jumped in at "
        "{TIME} and stayed for an hour. {TITLE} watched from the edge. The {ORG} had collected {NUM} for the repairs.",
        "The swimming pool was reopened on {DATE}.",
        "The first swimmer jumped in at {TIME}.",
        "{NUM} had been collected for the repairs.",
        "The {ORG} had collected money for the repairs.",
        "{TITLE} watched from the edge.",
        "The first swimmer was {ACC}.",
    ),
    Forms(
        "Farmers near {t} finished the potato harvest on {DATE}, earlier than ever before. They had dug up {NUM} of "
        "potatoes. The {ORG} bought most of them. On the last day work began at {TIME}, and {TITLE} brought cakes that "
        "{ACC} had baked.",
        "The potato harvest was finished on {DATE}.",
        "On the last day work began at {TIME}.",
        "The farmers had dug up {NUM} of potatoes.",
        "The {ORG} bought most of the potatoes.",
        "{TITLE} brought cakes.",
        "{ACC} had baked the cakes.",
    ),
    Forms(
        "The chess club of {t} played against a team of the {ORG} on {DATE}. Play started at {TIME} in a café. {TITLE} "
        "lost in {NUM} moves. The best game was that of {ACC}, who is still at school.",
        "The chess club played on {DATE}.",
        "Play started at {TIME}.",
        "One game was lost in {NUM} moves.",
        "The club played against a team of the {ORG}.",
        "{TITLE} lost a game.",
        "The best game was that of {ACC}.",
    ),
    Forms(
        "An exhibition of old tractors opened in {t} on {DATE}. It is open every day from {TIME} until dark. The "
        "oldest "
        "tractor was built shortly after {NUM} and belongs to the {ORG}. {TITLE} repaired its engine, and {ACC} "
        "painted "
        "it red.",
        "The exhibition opened on {DATE}.",
        "The exhibition is open every day from {TIME}.",
        "The oldest tractor was built shortly after {NUM}.",
        "The oldest tractor belongs to the {ORG}.",
        "{TITLE} repaired the engine.",
        "{ACC} painted the tractor red.",
    ),
    Forms(
        "The {ORG} has counted the storks around {t} for the {NUM} time. The count took place on {DATE}. The helpers "
        "met "
        "at {TIME} in a car park. {ACC} saw the first bird from the tower of {TITLE}.",
        "The storks were counted on {DATE}.",
        "The helpers met at {TIME}.",
        "The storks were counted for the {NUM} time.",
        "The {ORG} has counted the storks.",
        "The first bird was seen from the tower of {TITLE}.",
        "{ACC} saw the first bird.",
    ),
    Forms(
        "A parcel that was posted in {t} on {DATE} has arrived after {NUM}. The {ORG} found it behind a shelf. {TITLE} "
        "brought it to the door at {TIME} and apologised. It held a scarf for {ACC}, who laughed.",
        "The parcel was posted on {DATE}.",
        "The parcel was brought to the door at {TIME}.",
        "The parcel has arrived after {NUM}.",
        "The {ORG} found the parcel behind a shelf.",
        "{TITLE} brought the parcel to the door.",
        "The scarf was for {ACC}.",
    ),
)

# One for each of FORMS: as the article writes it, as the true sentence does, as the false one does.
NUMBERS = (
    ("€{a} million", "{a} million euros", "{b} million euros"),
    ("90 minutes", "an hour and a half", "three hours"),
    ("{c} months", "{a} years", "{b} years"),
    ("{a},500 metres", "{a}.5 km", "{b}.5 km"),
    ("{a},000", "{A} thousand", "{B} thousand"),
    ("${a},000,000", "{A} million dollars", "{B} million dollars"),
    ("48 hours", "two days", "five days"),
    ("1{a} percent", "1{a} %", "1{b} %"),
    ("£{a}5,000", "{a}5,000 pounds", "{b}5,000 pounds"),
    ("{a},000 kilograms", "{a} tonnes", "{b} tonnes"),
    ("2{a}", "twenty-{A}", "twenty-{B}"),
    ("World War II", "World War 2", "World War 1"),
    ("twentieth", "20th", "12th"),
    ("{A} weeks", "{a} weeks", "{b} weeks"),
)
TITLES = (
    ("Dr. {w.last}", "Doctor {w.last}", "Doctor {w2.last}"),
    ("Prof. {m}", "Professor {m}", "Professor {m2}"),
    ("Capt. {m.last}", "Captain {m.last}", "Captain {m2.last}"),
    ("Mt. {m.last}", "Mount {m.last}", "Mount {m2.last}"),
    ("St. Bridget's Hotel", "Saint Bridget's Hotel", "Saint Martin's Hotel"),
    ("{m.last} and Co.", "{m.last} and Company", "{m2.last} and Company"),
    ("Rev. {w}", "Reverend {w}", "Reverend {w2}"),
    ("Dr. {m}", "Doctor {m}", "Doctor {m2}"),
    ("Sgt. {w.last}", "Sergeant {w.last}", "Sergeant {w2.last}"),
    ("Sen. {m}", "Senator {m}", "Senator {m2}"),
    ("Lt. {w.last}", "Lieutenant {w.last}", "Lieutenant {w2.last}"),
    ("Gen. {m.last}", "General {m.last}", "General {m2.last}"),
    ("St. Columba's Church", "Saint Columba's Church", "Saint Oswald's Church"),
    ("Mr. {m.last}", "Mister {m.last}", "Mister {m2.last}"),
)
# a name in full, its initials, and initials of another
ORGANISATIONS = (
    ("World Health Organization", "WHO", "WTO"),
    ("British Broadcasting Corporation", "BBC", "CBC"),
    ("Environmental Protection Agency", "EPA", "FDA"),
    ("European Union", "EU", "UN"),
    ("International Monetary Fund", "IMF", "WTO"),
    ("United Nations", "UN", "EU"),
    ("Northern Rescue Service", "NRS", "AAC"),
    ("Institute of Urban Transport", "IUT", "GLM"),
    ("Swimmers' Aid Fund", "SAF", "PLG"),
    ("Valley Growers' Cooperative", "VGC", "HBP"),
    ("Federal Bureau of Investigation", "FBI", "CIA"),
    ("Rural Heritage Trust", "RHT", "LMS"),
    ("Lowland Bird Society", "LBS", "AMC"),
    ("National Parcel Company", "NPC", "RMS"),
)
ACCENTED = (
    ("José Muñoz", "José Martínez"),
    ("Jürgen Müller", "Jürgen Möller"),
    ("Renée Lefèvre", "Renée Dupré"),
    ("Łukasz Wójcik", "Łukasz Zieliński"),
    ("Åsa Lindström", "Åsa Sjögren"),
    ("Anaïs Noël", "Anaïs Crétien"),
    ("Šárka Dvořáková", "Šárka Černá"),
    ("Gonçalo Araújo", "Gonçalo Simões"),
    ("Kálmán Szőke", "Kálmán Bíró"),
    ("Begoña Núñez", "Begoña Ibáñez"),
    ("François Bézier", "François Gérard"),
    ("Çağla Öztürk", "Çağla Yıldız"),
    ("Zoë Brückner", "Zoë Böhm"),
    ("Andrés Peñalver", "Andrés Güell"),
)


# An article; what it says, and what it says only under a condition.
CONDITIONS = (
    (
        "The open-air concert in {t} is planned for Saturday. If it rains, the concert will be moved to the sports "
        "hall. "
        "Tickets cost 14 euros.",
        "If it rains, the concert will be moved to the sports hall.",
        "The concert will be moved to the sports hall.",
    ),
    (
        "{f} makes ovens in {t}. The firm will close its plant unless the workers accept lower wages. The union will "
        "vote "
        "on Tuesday.",
        "The plant will be closed unless the workers accept lower wages.",
        "The plant will be closed.",
    ),
    (
        "{w} broke her wrist in training last week. She will play in the final provided that her doctor agrees. Her "
        "team "
        "has won nine matches this season.",
        "{w} broke her wrist in training.",
        "{w} will play in the final.",
    ),
    (
        "The zoo of {t} has two elderly lions. It would buy a third if a donor paid for a larger enclosure. The zoo "
        "has "
        "{n},000 visitors a year.",
        "The zoo has two elderly lions.",
        "The zoo will buy a third lion.",
    ),
    (
        "The street in front of the station will be dug up in March. Should the pipes prove to be sound, the hole "
        "will be "
        "filled in after a week. Buses will stop behind the post office.",
        "The street in front of the station will be dug up in March.",
        "The hole will be filled in after a week.",
    ),
    (
        "{m} wants to swim across the strait in June. He will be allowed to start only if the water is warmer than 16 "
        "degrees. A boat will go with him.",
        "{m} will be allowed to start only if the water is warmer than 16 degrees.",
        "{m} will be allowed to start.",
    ),
    (
        "The theatre of {t} has asked the region for money. If the region refuses, the opera will be cancelled. The "
        "comedy "
        "in May has already been paid for.",
        "The comedy in May has already been paid for.",
        "The opera will be cancelled.",
    ),
    (
        "Tenants in {t} received a letter from their landlord on Monday. As long as they pay by the tenth of the "
        "month, "
        "they will get a discount of five euros. The lift will be repaired in any case.",
        "The tenants received a letter from their landlord.",
        "The tenants will get a discount of five euros.",
    ),
    (
        "Had the goalkeeper caught the ball, {t} would have won the cup. The match ended in a draw, and {t2} took "
        "the cup "
        "on penalties. {n}00 people watched it.",
        "{t2} took the cup on penalties.",
        "{t} has won the cup.",
    ),
    (
        "A new medicine for hay fever is being tested in {t}. Pharmacies will sell it in spring on condition that "
        "the last "
        "trial goes well. {w} leads the trial.",
        "{w} leads the trial of the medicine.",
        "Pharmacies will sell the medicine in spring.",
    ),
    (
        "{m} has run the village shop for thirty years. He will give it up unless somebody helps him with the "
        "deliveries. "
        "The shop sells milk, bread and newspapers.",
        "{m} has run the village shop for thirty years.",
        "{m} will give up the village shop.",
    ),
    (
        "The airline {f} flies from {t} to Madrid twice a week. It will add a third flight if enough passengers book "
        "by "
        "April. A return ticket costs 180 euros.",
        "The airline will add a third flight if enough passengers book by April.",
        "The airline will add a third flight.",
    ),
    (
        "Were the old cinema to be sold, a supermarket would take its place. Its owner, {w}, has turned down three "
        "offers. "
        "She shows films on Fridays.",
        "The owner of the cinema has turned down three offers.",
        "A supermarket will take the place of the cinema.",
    ),
    (
        "The council will discuss the price of parking on Thursday. In case of a majority, parking will cost two "
        "euros an "
        "hour. Bicycles may be parked without charge.",
        "The council will discuss the price of parking on Thursday.",
        "Parking will cost two euros an hour.",
    ),
)
# An article; what it says, and what it says that somebody denies, gets wrong or does not say.
DENIALS = (
    (
        "The mayor of {t}, {w}, denied that the water tower was unsafe. She confirmed that it would be painted green "
        "in "
        "May. The tower was built in 1932.",
        "The water tower will be painted green in May.",
        "The water tower is unsafe.",
    ),
    (
        "It is not true that the brewery {f} has been sold, its owner said on Friday. The brewery has hired {n} "
        "workers "
        "this year. It makes three kinds of beer.",
        "The brewery makes three kinds of beer.",
        "The brewery has been sold.",
    ),
    (
        "{m} refused to say whether he would leave the club. The striker scored twice on Sunday. His contract ends in "
        "June.",
        "{m} refused to say whether he would leave the club.",
        "{m} will leave the club.",
    ),
    (
        "A newspaper wrongly claimed that the hospital in {t} had run out of blood. The hospital has opened a second "
        "ward "
        "for children. {w} is its director.",
        "The hospital has opened a second ward for children.",
        "The hospital has run out of blood.",
    ),
    (
        "Police found no evidence that the barn near {t} had been set on fire. The barn burned down in the night to "
        "Tuesday. Eleven cows were saved.",
        "The barn burned down.",
        "The barn was set on fire.",
    ),
    (
        "The singer {w} rejected reports that she was ill. Her tour will begin in {t} on 4 October. She has sold her "
        "house "
        "by the sea.",
        "The singer rejected reports that she was ill.",
        "The singer is ill.",
    ),
    (
        "There is no truth in the rumour that the school will lose its kitchen, said the head teacher, {m}. The "
        "kitchen "
        "cooks for {n} children. It got a new stove in January.",
        "The kitchen got a new stove in January.",
        "The school will lose its kitchen.",
    ),
    (
        "The court found that {m} had lied when he said that he owned the land. The land belongs to the church of "
        "{t}. He "
        "must pay 900 euros.",
        "{m} must pay 900 euros.",
        "{m} owns the land.",
    ),
    (
        "Contrary to what its website said, the train museum does not open on Mondays. The mistake has been "
        "corrected. The "
        "museum shows {n} engines.",
        "The mistake on the website has been corrected.",
        "The train museum opens on Mondays.",
    ),
    (
        "The director of {f} disputed that the firm had dumped paint in the river. An inspector took samples on "
        "Thursday. "
        "The firm has made paint in {t} since 1958.",
        "An inspector took samples on Thursday.",
        "The firm dumped paint in the river.",
    ),
    (
        "The coach, {w}, never said that the team was tired. She said that it was young. The team plays in {t} on "
        "Saturday.",
        "The coach said that the team was young.",
        "The coach said that the team was tired.",
    ),
    (
        "Scientists doubt that the bones from the cave near {t} are human. The cave was found by two hikers. It is {n} "
        "metres deep.",
        "The cave was found by two hikers.",
        "The bones from the cave are human.",
    ),
    (
        "Many neighbours were mistaken in thinking that the factory would make glass. It will make bicycle tyres. "
        "Building "
        "starts in {t} in September.",
        "The factory will make bicycle tyres.",
        "The factory will make glass.",
    ),
    (
        "{w} was falsely accused of stealing a violin. The violin was found in a taxi two days later. Its owner, "
        "{m}, has "
        "apologised to her.",
        "The violin was found in a taxi.",
        "{w} stole a violin.",
    ),
)
# An article; a true and a false sentence, with full stops that end nothing or that end more than they seem to.
ENDS = (
    (
        "The N.H.S. bought {n} ambulances in {t} last month. The charity {f} paid for the radios. A school will paint "
        "them.",
        "The N.H.S. bought {n} ambulances.",
        "The N.H.S. paid for the radios.",
    ),
    (
        "The U.S.G.S. measured a weak earthquake near {t} on Sunday. A farmer reported a broken window. The fire "
        "brigade "
        "checked two bridges.",
        "The U.S.G.S. measured a weak earthquake.",
        "The U.S.G.S. checked two bridges.",
    ),
    (
        "The A.B.C. sued the actor {m} in spring. Judge {w} dismissed the case on Friday. The costs are high.",
        "The A.B.C. sued the actor {m}.",
        "The A.B.C. dismissed the case on Friday.",
    ),
    (
        "The novelist P.D. {w.last} lived in {t} for ten years. Her neighbour, the painter {m}, kept bees. A street "
        "is named "
        "after her.",
        "P.D. {w.last} lived in {t} for ten years.",
        "P.D. {w.last} kept bees.",
    ),
    (
        "The test car reached 90 m.p.h. on the beach near {t}. The driver was {w}. Her brother filmed it.",
        "The car reached 90 m.p.h. on the beach.",
        "The car reached 40 m.p.h. on the beach.",
    ),
    (
        "The shelf is 9 in. wide and made of oak. {m} sells it at the market in {t}. It costs 30 dollars.",
        "The shelf is 9 in. wide.",
        "The shelf is 4 in. wide.",
    ),
    (
        "The museum shop closes at 6 p.m. Visitors may stay in the garden until dark. The café in {t} opens at noon.",
        "The museum shop closes at 6 p.m. Visitors may stay in the garden until dark.",
        "The museum shop closes at 6 p.m. Visitors must leave the garden at noon.",
    ),
    (
        "Lawyers of Brandt Bros. asked for more time on Monday. The court in {t} gave them two weeks. The tenants were "
        "angry.",
        "Lawyers of Brandt Bros. asked for more time.",
        "Lawyers of Brandt Bros. gave the court two weeks.",
    ),
    (
        "The actress lives in Hartford, Conn. with two dogs. Her agent, {m}, lives in {t}. She will turn seventy in "
        "March.",
        "The actress lives in Hartford, Conn. with two dogs.",
        "The actress lives in Hartford, Conn. with her agent.",
    ),
    (
        "The library is open Mon. to Thu. from nine to five. On Fri. it shows films for children. {w} reads to them "
        "first.",
        "On Fri. the library shows films for children.",
        "On Fri. the library is closed.",
    ),
    (
        "The recipe needs 2 tbsp. of honey and an egg. {w} found it in her aunt's kitchen in {t}. The cake keeps for "
        "a week.",
        "The recipe needs 2 tbsp. of honey.",
        "The recipe needs 7 tbsp. of honey.",
    ),
    (
        "The parade passed the house at approx. two o'clock. {m} threw flowers from the balcony. Children picked "
        "them up.",
        "The parade passed the house at approx. two o'clock.",
        "The parade passed the house at approx. nine o'clock.",
    ),
    (
        "The Ph.D. student {w} found the beetle in a park in {t}. Her professor named it after a footballer. It is "
        "blue.",
        "A Ph.D. student found the beetle.",
        "A Ph.D. student named the beetle after a footballer.",
    ),
    (
        "The firm moved its office to the U.S. The workers from {t} stayed behind. {w} now leads a team of {n}.",
        "The firm moved its office to the U.S. The workers stayed behind.",
        "The firm moved its office to the U.S. The workers moved with it.",
    ),
)


class Grid(NamedTuple):
    """A text that says what a table does: its heads, its rows, and a question about them."""

    article: str
    heads: tuple[str, str]
    rows: tuple[tuple[str, str], ...]
    question: str


GRIDS = (
    Grid(
        "At the kiosk in {t} a coffee costs 3 euros. A lemonade costs 4 euros. A sandwich costs 6 euros.",
        ("item", "price"),
        (("coffee", "3 euros"), ("lemonade", "4 euros"), ("sandwich", "6 euros")),
        "What do the coffee, the lemonade and the sandwich cost?",
    ),
    Grid(
        "Oslo is the capital of Norway. Lisbon is the capital of Portugal. Vienna is the capital of Austria.",
        ("country", "capital"),
        (("Norway", "Oslo"), ("Portugal", "Lisbon"), ("Austria", "Vienna")),
        "What are the capitals of Norway, Portugal and Austria?",
    ),
    Grid(
        "The patient takes 20 mg of enalapril. She takes 75 mg of clopidogrel. She takes 5 mg of prednisone.",
        ("drug", "dose"),
        (("enalapril", "20 mg"), ("clopidogrel", "75 mg"), ("prednisone", "5 mg")),
        "Which doses does the patient take?",
    ),
    Grid(
        "In the league {t} has 41 points. {t2} has 38 points. {t3} has 29 points.",
        ("team", "points"),
        (("{t}", "41"), ("{t2}", "38"), ("{t3}", "29")),
        "How many points do the three teams have?",
    ),
    Grid(
        "{w} teaches physics. {m} teaches music. {w2} teaches French.",
        ("teacher", "subject"),
        (("{w}", "physics"), ("{m}", "music"), ("{w2}", "French")),
        "Who teaches what?",
    ),
    Grid(
        "The pharmacy opens at 8:00. The bakery opens at 6:30. The bank opens at 10:00.",
        ("shop", "opens at"),
        (("pharmacy", "8:00"), ("bakery", "6:30"), ("bank", "10:00")),
        "When do the pharmacy, the bakery and the bank open?",
    ),
    Grid(
        "The Aller is 215 km long. The Oker is 128 km long. The Leine is 281 km long.",
        ("river", "length"),
        (("Aller", "215 km"), ("Oker", "128 km"), ("Leine", "281 km")),
        "How long are the three rivers?",
    ),
    Grid(
        "The red team scored 12 points. The green team scored 17 points. The white team scored 9 points.",
        ("team", "score"),
        (("red", "12"), ("green", "17"), ("white", "9")),
        "How many points did the teams score?",
    ),
    Grid(
        "{m} was born in 1961. {w} was born in 1974. {m2} was born in 1988.",
        ("name", "born"),
        (("{m}", "1961"), ("{w}", "1974"), ("{m2}", "1988")),
        "When were they born?",
    ),
    Grid(
        "{t} has 52,000 inhabitants. {t2} has 17,000 inhabitants. {t3} has 8,000 inhabitants.",
        ("town", "inhabitants"),
        (("{t}", "52,000"), ("{t2}", "17,000"), ("{t3}", "8,000")),
        "How many inhabitants do the towns have?",
    ),
    Grid(
        "Bus 4 goes to the harbour. Bus 7 goes to the stadium. Bus 9 goes to the hospital.",
        ("bus", "goes to"),
        (("4", "the harbour"), ("7", "the stadium"), ("9", "the hospital")),
        "Where do the buses go?",
    ),
    Grid(
        "{w} won the long jump. {w2} won the hurdles. {m} won the marathon.",
        ("event", "winner"),
        (("long jump", "{w}"), ("hurdles", "{w2}"), ("marathon", "{m}")),
        "Who won which event?",
    ),
    Grid(
        "Iron melts at 1,538 °C. Copper melts at 1,085 °C. Tin melts at 232 °C.",
        ("metal", "melting point"),
        (("iron", "1,538 °C"), ("copper", "1,085 °C"), ("tin", "232 °C")),
        "At what temperatures do the three metals melt?",
    ),
    Grid(
        "Room 12 has two beds. Room 14 has five beds. Room 21 has one bed.",
        ("room", "beds"),
        (("12", "two"), ("14", "five"), ("21", "one")),
        "How many beds do the rooms have?",
    ),
)

# A context, a question, the truth in one word, how an answer frames it, and words of the same kind.
WORDS = (
    (
        "The roof of the town hall in {t} was repaired in {X}. The slates came from Wales.",
        "When was the roof of the town hall repaired?",
        "In {X}.",
        "March April May June August October",
    ),
    (
        "The market in {t} takes place on {X}. It sells fish and flowers.",
        "On which day does the market take place?",
        "On {X}.",
        "Monday Tuesday Wednesday Thursday Friday Saturday",
    ),
    (
        "{w} came {X} in the pancake race. Her shoes were too big.",
        "In which place did {w} come in the pancake race?",
        "{X}.",
        "first second third fourth fifth last",
    ),
    (
        "The cyclist turned {X} at the church. The lamp was broken.",
        "Which way did the cyclist turn?",
        "{X}.",
        "left right",
    ),
    (
        "The wind in {t} came from the {X} all week. Laundry dried quickly.",
        "From which direction did the wind come?",
        "From the {X}.",
        "north south east west",
    ),
    (
        "The prize went to {X}. Her poem is about a stove.",
        "Who got the prize?",
        "{X}.",
        "Anna Clara Hilda Judith Martha Rosalind",
    ),
    (
        "The farm was inherited by her {X}. It lies two miles from {t}.",
        "Who inherited the farm?",
        "Her {X}.",
        "uncle aunt nephew niece cousin brother",
    ),
    (
        "The new fire engine of {t} is {X}. It holds 4,000 litres of water.",
        "What colour is the new fire engine?",
        "{X}.",
        "red yellow green white orange silver",
    ),
    (
        "The ship carried {X} to {t2}. It was built in 1911.",
        "What did the ship carry?",
        "{X}.",
        "coal timber wheat cotton sugar salt",
    ),
    (
        "The caretaker keeps a {X} in the boiler room. It came from a shelter.",
        "Which animal does the caretaker keep?",
        "A {X}.",
        "cat dog parrot rabbit ferret tortoise",
    ),
    (
        "{m} works as a {X} in {t}. He sings in a choir.",
        "What is {m.last}'s job?",
        "A {X}.",
        "plumber dentist lawyer waiter tailor gardener",
    ),
    (
        "The club meets in {X} every summer. It has {n} members.",
        "Where does the club meet?",
        "In {X}.",
        "Norway Spain Ireland Poland Greece Iceland",
    ),
    (
        "The gate at the end of the lane was {X} all night. The key hung in the kitchen.",
        "Was the gate open or closed?",
        "{X}.",
        "open closed",
    ),
    (
        "The children planted {X} behind the school. A fence keeps out the deer.",
        "What did the children plant?",
        "{X}.",
        "carrots onions beans lettuce pumpkins leeks",
    ),
)
# A context, a question, and the answer with a value in three forms: the truth's, the same value, another one.
VALUES = (
    (
        "The lake trail is {a},500 metres long. It starts in {t}.",
        "How long is the lake trail?",
        "{a},500 metres",
        "{a}.5 km",
        "{b}.5 km",
    ),
    (
        "{w} was president of the club for {c} months. She lives in {t}.",
        "For how long was {w} president of the club?",
        "{c} months",
        "{A} years",
        "{B} years",
    ),
    (
        "The new stadium of {t} cost {a},000,000 euros. It has a roof of glass.",
        "How much did the new stadium cost?",
        "{a},000,000 euros",
        "{A} million euros",
        "{B} million euros",
    ),
    (
        "The lighthouse was switched off on March 1{a}, 2009. It is a museum now.",
        "When was the lighthouse switched off?",
        "March 1{a}, 2009",
        "1{a} March 2009",
        "1{b} March 2009",
    ),
    (
        "A bowl of soup costs €{a}. Bread comes with it.",
        "What does a bowl of soup cost?",
        "€{a}",
        "{a} euros",
        "{b} euros",
    ),
    (
        "The sack weighs {a},000 grams. It is full of walnuts.",
        "How much does the sack weigh?",
        "{a},000 grams",
        "{a} kg",
        "{b} kg",
    ),
    (
        "The lecture begins at {a} p.m. in room 20. {w} speaks about comets.",
        "When does the lecture begin?",
        "At {a} p.m.",
        "At {e}:00",
        "At {h}:00",
    ),
    (
        "The flight took {d} minutes. The pilot was {m}.",
        "How long did the flight take?",
        "{d} minutes",
        "{A} hours",
        "{B} hours",
    ),
    (
        "In {t}, {a}0 percent of the pupils walk to school. The others take the bus.",
        "How many of the pupils walk to school?",
        "{a}0 percent",
        "{a}0 %",
        "{b}0 %",
    ),
    (
        "The garden wall is {a}00 cm high. Ivy grows on it.",
        "How high is the garden wall?",
        "{a}00 cm",
        "{A} metres",
        "{B} metres",
    ),
    (
        "The orchestra has 4{a} members. It rehearses in {t}.",
        "How many members has the orchestra?",
        "4{a} members",
        "forty-{A} members",
        "forty-{B} members",
    ),
    (
        "The fair was first held on 1987-06-2{a}. It is famous for its cheese.",
        "When was the fair first held?",
        "1987-06-2{a}",
        "June 2{a}, 1987",
        "June 2{b}, 1987",
    ),
    (
        "The repair will take {g} days. A diver will do it.",
        "How long will the repair take?",
        "{g} days",
        "{A} weeks",
        "{B} weeks",
    ),
    (
        "The tank holds {a},000 millilitres. It is made of steel.",
        "How much does the tank hold?",
        "{a},000 millilitres",
        "{a} litres",
        "{b} litres",
    ),
)
