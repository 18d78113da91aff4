//! Any message that nodes may send each other.

use evenkeel_node::wire::{
    BarrierStep, End, EndBy, EndKind, Envelope, Failure, MembersBuf, Message, PlacesBuf, Probe,
    ReferencesBuf, StopHow,
};
use evenkeel_node::{Name, NodeId, Slot};
use proptest::prelude::*;
use proptest::sample::select;

/// The owned parts of which any kind of message is made.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    kind: usize,
    cause: Option<u64>,
    numbers: [u64; 3],
    count: i64,
    small: [u32; 2],
    slots: [Slot; 2],
    flag: bool,
    text: String,
    payload: Vec<u8>,
    members: MembersBuf,
    places: PlacesBuf,
    references: ReferencesBuf,
    failure: Failure,
    by: EndBy,
    end: EndKind,
    how: StopHow,
    step: BarrierStep,
}

/// How many kinds there are; a kind with an optional parent counts once.
pub(crate) const KINDS: usize = 28;

/// Generates numbers of any magnitude, short forms as likely as long ones.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift)
}

fn slot() -> impl Strategy<Value = Slot> {
    (number(), number()).prop_map(|(index, generation)| Slot {
        index: (index >> 32) as u32,
        generation: (generation >> 32) as u32,
    })
}

fn members() -> impl Strategy<Value = MembersBuf> {
    proptest::collection::vec((any::<u32>(), proptest::collection::vec(slot(), 0..4)), 0..5)
        .prop_map(|members| {
            let mut buffer = MembersBuf::new();
            for (node, slots) in &members {
                buffer.push(NodeId::new(*node), slots);
            }
            buffer
        })
}

fn places() -> impl Strategy<Value = PlacesBuf> {
    proptest::collection::vec((any::<u32>(), number()), 0..5).prop_map(|places| {
        let mut buffer = PlacesBuf::new();
        for (node, call) in places {
            buffer.push(NodeId::new(node), call);
        }
        buffer
    })
}

fn references() -> impl Strategy<Value = ReferencesBuf> {
    proptest::collection::vec((any::<u32>(), slot()), 0..5).prop_map(|actors| {
        let mut buffer = ReferencesBuf::new();
        for (node, slot) in actors {
            buffer.push(Name { node: NodeId::new(node), slot });
        }
        buffer
    })
}

pub(crate) fn parts() -> impl Strategy<Value = Parts> {
    let numbers = ([number(), number(), number()], any::<i64>(), any::<[u32; 2]>(), any::<bool>());
    let things = ([slot(), slot()], "\\PC{0,60}", payload(), members(), places(), references());
    let codes =
        (select(Failure::ALL), select(EndBy::ALL), select(EndKind::ALL), select(StopHow::ALL));
    let codes = (codes, select(BarrierStep::ALL));
    (0..KINDS, proptest::option::of(1..u64::MAX), numbers, things, codes).prop_map(
        |(
            kind,
            cause,
            (numbers, count, small, flag),
            (slots, text, payload, members, places, references),
            ((failure, by, end, how), step),
        )| {
            let mut parts = Parts {
                kind,
                cause,
                numbers,
                count,
                small,
                slots,
                flag,
                text,
                payload,
                members,
                places,
                references,
                failure,
                by,
                end,
                how,
                step,
            };
            // Half of the causes are small.
            parts.cause = cause.map(|cause| if flag { cause } else { cause % 100 + 1 });
            parts
        },
    )
}

/// Generates payloads of records with lengths of one, two and three bytes.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => proptest::collection::vec(any::<u8>(), 0..40),
        2 => proptest::collection::vec(any::<u8>(), 100..140),
        1 => proptest::collection::vec(any::<u8>(), 16_350..16_400),
    ]
}

impl Parts {
    /// Returns the message of this kind with these parts.
    pub(crate) fn envelope(&self) -> Envelope<'_> {
        let [a, b, c] = self.numbers;
        let [from, to] = self.slots;
        let [small, other] = self.small;
        let payload = &self.payload[..];
        let text = &self.text[..];
        // The node is written only if the kind has one.
        let node = NodeId::new(if self.end.has_node() { small } else { 0 });
        let end = End { by: self.by, kind: self.end, node, detail: text };
        let message = match self.kind {
            0 => Message::Tell { to, payload },
            1 => Message::Ask { to, call: a, limit: b, payload },
            2 => Message::Answer { call: a, payload },
            3 => Message::Failed { call: a, failure: self.failure, detail: text },
            4 => Message::Abandon { call: a },
            5 => Message::Spawn {
                call: a,
                script: text,
                parent: self.flag.then_some(from),
                arguments: payload,
            },
            6 => Message::Locate { call: a, name: text, messages: text },
            7 => Message::Located { call: a, at: to },
            8 => Message::Link { tie: a, from, to },
            9 => Message::Untie { tie: a, opener: self.flag },
            10 => Message::Exit { tie: a, opener: self.flag, end },
            11 => Message::Monitor { tie: a, to },
            12 => Message::Stop { to, how: self.how },
            13 => Message::Cast { members: self.members.as_members(), payload },
            14 => Message::Barrier { barrier: a, phase: b, step: self.step },
            15 => {
                Message::Termination(Probe::Token { round: a, count: self.count, black: self.flag })
            }
            16 => Message::Termination(Probe::Done { round: a }),
            17 => Message::Termination(Probe::Failed { node: NodeId::new(small) }),
            18 => Message::Hello {
                node: NodeId::new(small),
                nodes: other,
                incarnation: a,
                longest_frame: c,
                ties: b,
                job: text,
                name: text,
            },
            19 => Message::Moved { call: a, to: NodeId::new(small) },
            20 => Message::Refuse { detail: text },
            21 => Message::Hold { to: self.flag.then_some(to) },
            22 => Message::Resume { to: self.flag.then_some(to) },
            23 => Message::Hand { to, call: a, places: self.places.as_places(), payload },
            24 => Message::Release { to, from: NodeId::new(small), times: b },
            25 => Message::Lent { to, holder: NodeId::new(small), times: b, loan: a },
            26 => Message::Counted { loan: a },
            _ => Message::Leave,
        };
        let cause = self.cause.and_then(std::num::NonZeroU64::new);
        let envelope = Envelope { cause, ..Envelope::from(message) };
        // Only these kinds have a value.
        match self.kind {
            0..=2 | 5 | 13 | 23 => {
                Envelope { references: self.references.as_references(), ..envelope }
            }
            _ => envelope,
        }
    }
}
