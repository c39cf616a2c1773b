//! A subscriber for the whole process that keeps apart what each thread tells.
//!
//! One for each test would not do: a place in the code that is first reached while no subscriber is there is
//! remembered as of interest to nobody.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

pub(crate) type Fields = BTreeMap<String, String>;

#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) fields: Fields,
    id: Id,
}

#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) level: Level,
    /// The span it was told in.
    pub(crate) within: Option<&'static str>,
    pub(crate) fields: Fields,
}

/// What one thread heard of claimstore.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) spans: Vec<Span>,
    pub(crate) events: Vec<Told>,
}

impl Heard {
    /// The names of all spans, in order.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.spans.iter().map(|span| span.name).collect()
    }
}

thread_local! {
    static HEARD: RefCell<Heard> = RefCell::default();
}

static LISTEN: Once = Once::new();

/// What `work` tells on this thread.
pub(crate) fn heard<R>(work: impl FnOnce() -> R) -> (R, Heard) {
    LISTEN.call_once(|| {
        let listener = Registry::default().with(Listener);
        tracing::subscriber::set_global_default(listener).expect("nobody else listens");
    });
    HEARD.take();
    let done = work();
    (done, HEARD.take())
}

struct Listener;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Listener {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        let about = attributes.metadata();
        if about.target() == "claimstore" {
            assert_eq!(*about.level(), Level::DEBUG);
            let mut span = Span { name: about.name(), fields: Fields::new(), id: id.clone() };
            attributes.record(&mut Reader(&mut span.fields));
            HEARD.with_borrow_mut(|heard| heard.spans.push(span));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        HEARD.with_borrow_mut(|heard| {
            if let Some(span) = heard.spans.iter_mut().rfind(|span| span.id == *id) {
                values.record(&mut Reader(&mut span.fields));
            }
        });
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if event.metadata().target() == "claimstore" {
            let within = context.event_span(event).map(|span| span.name());
            let mut told = Told { level: *event.metadata().level(), within, fields: Fields::new() };
            event.record(&mut Reader(&mut told.fields));
            HEARD.with_borrow_mut(|heard| heard.events.push(told));
        }
    }
}

/// Takes each field once: many subscribers would print a second value beside the first.
struct Reader<'a>(&'a mut Fields);

impl Visit for Reader<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        let before = self.0.insert(field.name().to_owned(), value.to_owned());
        assert_eq!(before, None, "{} is told twice", field.name());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
